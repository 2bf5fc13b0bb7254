/// \file
/// Runs the cases of a plan, one after the other, on the current device.
#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "book/cli.hpp"
#include "book/plan.hpp"
#include "book/report.hpp"
#include "book/team.hpp"
#include "book/timer.hpp"

namespace book::internal {

/// Checks cases, times those that are right, and collects what they gave.
class Runner {
 public:
  /// \param team  of several processes; null for one
  Runner(const Options& options, const Session& session, Team* team = nullptr);

  /// Device memory that a problem may take.
  static std::size_t free_bytes();

  /// Checks one case, and times it if it is right. Returns whether it was.
  bool run(const Case& c, std::size_t number, std::size_t of);

  void end_progress() const;
  const std::vector<Run>& runs() const { return runs_; }
  /// What the checks said, each once.
  const std::vector<std::string>& agreed() const { return agreed_; }

 private:
  bool check_and_time(const Case& c);
  Verdict finish(const Variant& v);
  Run record(const Case& c) const;
  void describe_kernel(const Case& c, Run& run) const;
  void measure(const Case& c, Run& run);
  bool wrong(const Case& c, const Verdict& verdict) const;
  void show_progress(const Case& c, std::size_t number, std::size_t of) const;

  const Options& options_;
  const Session& session_;
  Team* team_;
  bool progress_;
  std::optional<Timer> timer_;
  Problem* current_ = nullptr;        // the one that has device memory
  std::set<const Problem*> spoiled_;  // inputs that a launch under --once destroyed
  std::vector<Run> runs_;
  std::vector<std::string> agreed_;
};

}  // namespace book::internal
