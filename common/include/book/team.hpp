/// \file
/// Several processes that run the same program together, each with a GPU of its own.
#pragma once
#include <string>

namespace book {

/// What the driver asks of the others. Every call that names others throws an Error on every rank
/// where one of them has ended, or says nothing for too long.
class Team {
 public:
  virtual ~Team() = default;
  virtual unsigned rank() const = 0;        ///< which of the processes this is, from 0
  virtual unsigned size() const = 0;        ///< how many there are
  virtual unsigned local_rank() const = 0;  ///< which of those on this machine

  /// Finds the others.
  virtual void start() = 0;
  /// Throws Error(kBadArgument) unless all ranks say the same.
  virtual void agree(const std::string& what) = 0;
  /// Waits until all ranks have come here.
  virtual void meet() = 0;
  /// The largest of all ranks' values, on every rank.
  virtual double largest(double value) = 0;
  /// Tells the others that this rank ends, and why.
  virtual void fail(const std::string& why) noexcept = 0;
};

}  // namespace book
