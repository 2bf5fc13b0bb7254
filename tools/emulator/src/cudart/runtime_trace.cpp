// EMU_TRACE: which launch is traced, and where to.
#include "cudart/runtime.hpp"
#include "watch/kernel_name.hpp"

namespace emu {

std::unique_ptr<Trace> Runtime::begin_trace(const LaunchConfig& config) {
  if (!settings_->trace || traced_) return nullptr;
  const TraceSettings& wanted = *settings_->trace;
  const std::string name = kernel_name(config.kernel->name);
  if (name.find(wanted.kernel) == name.npos || trace_candidates_++ != wanted.launch) return nullptr;
  traced_ = true;
  const Dim3 b = wanted.block, grid = config.grid;
  if (b.x >= grid.x || b.y >= grid.y || b.z >= grid.z) {
    say("the launch to be traced has no such block: its grid is " + std::to_string(grid.x) + "," +
        std::to_string(grid.y) + "," + std::to_string(grid.z));
  }
  auto trace = std::make_unique<Trace>([this](std::string_view line) { trace_.write(line); }, b,
                                       wanted.limit);
  trace->head(config, wanted.launch, name,
              settings_->apart ? "apart:" + std::to_string(*settings_->apart) : "together");
  return trace;
}

void Runtime::end_trace(Trace& trace, const LaunchResult& result) {
  trace.foot(result);
  trace_.close();
}

}  // namespace emu
