/// \file
/// Who is in this sum? With every value of a kernel go the elements of the host's data that have
/// entered it, and how often. What the host reads back is then held to hold each element once.
#pragma once
#include <memory>

#include "machine/observer.hpp"

namespace emu {

class Checker;

class SumCheck : public Observer {
 public:
  /// The program is over: what it hasn't read back is looked at too.
  virtual void finish() = 0;
};

/// What it finds and what it describes goes to the checker's findings. Launches that it looks on at
/// take one thread of the host, and their strong reads are given older values where nothing orders
/// them after a write (old_values.hpp). Where a sum is `expected` of all that is read, one that has
/// each element a second time, or subtracts each, is wrong; else it may be what its author wants,
/// and is described.
std::unique_ptr<SumCheck> make_sum_check(Checker& checker, bool expected);

}  // namespace emu
