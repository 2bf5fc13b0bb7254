/// \file
/// The driver: a chapter names its variants and their launches; the driver checks, times, sweeps
/// and reports them. It knows nothing of sums: a Problem says what is prepared and what is right.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <vector>

#include "book/plan.hpp"
#include "book/problem.hpp"
#include "book/team.hpp"
#include "book/variant.hpp"

namespace book {

struct Options;
struct Session;

/// A chapter's program: `add` its variants, then `run`.
class Chapter {
 public:
  /// \param name   the folder's name, e.g. "chapter02_smem"
  /// \param title  one line
  /// \param next   what to look at next, printed under the table
  Chapter(std::string name, std::string title, std::string next = {}, Defaults defaults = {});

  /// Adds one way to solve a problem.
  void add(Variant variant);
  /// Adds one for each value of a parameter (`family`).
  void add(std::vector<Variant> variants);

  /// Has the program run as one of several processes; null for one alone.
  void join(std::shared_ptr<Team> team);

  /// The whole program: reads the command line, runs, reports. Returns the exit status and never
  /// throws; every failure is one line on standard error.
  int run(int argc, const char* const* argv);

 private:
  int run_or_throw(int argc, const char* const* argv);
  Session begin(Options& options, std::vector<std::string> command);
  int run_all(const std::vector<const Variant*>& chosen, const Options& options,
              const Session& session, std::ostream& out);
  void say(const std::string& why) const;
  int give_up(ExitCode code) const;

  std::string name_, title_, next_;
  Defaults defaults_;
  std::map<std::type_index, std::shared_ptr<Problem>> problems_;  // one of each type
  std::vector<Variant> variants_;
  std::shared_ptr<Team> team_;
};

}  // namespace book
