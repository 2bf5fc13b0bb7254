#include "cudart/interrupt.hpp"

#include <csignal>
#include <iterator>
#include <string>

#include "cudart/output.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
std::atomic<int> received{0};

void end_by(int number) {
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void receive(int number) {
  received = number;
  if (asked_to_stop().exchange(true)) end_by(number);  // a second time: at once
}

}  // namespace

std::atomic<bool>& asked_to_stop() {
  static constinit std::atomic<bool> asked{false};
  return asked;
}

LaunchResult attended(const LaunchConfig& config) {
  using Action = struct sigaction;
  Action before[std::size(kSignals)] = {};
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_DFL) continue;  // the program sees to it
    Action ours{};
    ours.sa_handler = receive;
    ours.sa_flags = SA_RESTART;
    sigaction(kSignals[i], &ours, nullptr);
  }
  LaunchResult result = launch(config);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (before[i].sa_handler == SIG_DFL) sigaction(kSignals[i], &before[i], nullptr);
  }
  if (asked_to_stop()) {
    if (result.fault && result.fault->kind == Fault::Kind::kInterrupted) {
      std::string where = result.fault->message;
      const std::string whose = "kernel " + config.kernel->name + ", ";
      for (std::size_t at = 0; (at = where.find(whose, at)) != where.npos;) {
        where.erase(at, whose.size());
      }
      say("kernel " + kernel_name(config.kernel->name) + " is ended by a signal; its blocks stand" +
          where);
    }
    end_by(received);
  }
  return result;
}

}  // namespace emu
