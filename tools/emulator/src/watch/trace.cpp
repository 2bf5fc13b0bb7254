#include "watch/trace.hpp"

#include <algorithm>
#include <vector>

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "watch/json.hpp"

namespace emu {
namespace {

std::string listed(const Dim3& d) {
  return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

template <class F>
std::string of_lanes(Mask lanes, F value) {
  std::string out = "[";
  for_each_lane(lanes, [&](unsigned i) {
    if (out.size() > 1) out += ',';
    out += std::to_string(value(i));
  });
  return out + "]";
}

const char* name_of(Space space) {
  switch (space) {
    case Space::kGlobal: return "global";
    case Space::kConstant: return "constant";
    case Space::kShared: return "shared";
    case Space::kLocal: return "local";
    case Space::kParameter: return "parameter";
    case Space::kGeneric: break;
  }
  return "generic";
}

const char* name_of(Direction direction) {
  return direction == Direction::kLoad     ? "load"
         : direction == Direction::kAtomic ? "atomic"
                                           : "store";
}

/// One access, or as much of it as lies in one allocation.
std::string part(const Access& access, Mask lanes, const Allocation* in) {
  const auto* address = access.address;
  std::string out = std::string("{\"space\":\"") + name_of(access.space) + "\",\"direction\":\"" +
                    name_of(access.direction) + "\",\"bytes\":" + std::to_string(access.bytes);
  if (in) {
    out += ",\"in\":" + quoted(in->what) + ",\"base\":" + std::to_string(in->base) +
           ",\"size\":" + std::to_string(in->size);
  }
  out += ",\"lanes\":" + of_lanes(lanes, [](unsigned i) { return i; }) +
         ",\"address\":" + of_lanes(lanes, [&](unsigned i) { return address[i]; });
  if (in)
    out += ",\"offset\":" + of_lanes(lanes, [&](unsigned i) { return address[i] - in->base; });
  if (access.home) out += ",\"block\":" + quoted(access.home->place());
  if (access.space == Space::kShared) {
    out += ",\"bank\":" + of_lanes(lanes, [&](unsigned i) { return address[i] / 4 % 32; });
  }
  return out + "}";
}

}  // namespace

class Trace::Writer : public BlockObserver {
 public:
  Writer(Trace& trace, Block& block) : trace_(trace), block_(block) {}

  void begin(std::uint64_t index) override {
    const Dim3 grid = block_.launch().config.grid;
    const Dim3 b = trace_.block_;
    on_ = index == b.x + std::uint64_t{grid.x} * (b.y + std::uint64_t{grid.y} * b.z);
  }
  bool steps() const override { return on_; }

  void instruction(Warp& warp, const Op& op, Mask lanes) override {
    finish();
    if (!on_) return;
    const Code& code = warp.code();
    const auto pc = static_cast<std::size_t>(&op - code.ops.data());
    const Code::Place& place = code.places[pc];
    line_ = "{\"n\":" + std::to_string(trace_.written_) +
            ",\"warp\":" + std::to_string(warp.number()) +
            ",\"ptx_line\":" + std::to_string(place.ptx_line);
    const auto file = static_cast<std::size_t>(place.file);
    if (place.line > 0 && file < code.files.size()) {
      line_ += ",\"file\":" + quoted(code.files[file]) + ",\"line\":" + std::to_string(place.line);
    }
    if (place.text) line_ += ",\"op\":" + quoted(code.texts[place.text]);
    line_ += ",\"active\":" + of_lanes(lanes, [](unsigned i) { return i; });
    before_ = block_.counters;
  }

  void access(const Access& access) override {
    if (line_.empty()) return;
    const auto add = [&](Mask lanes, const Allocation* in) {
      accesses_ += (accesses_.empty() ? "" : ",") + part(access, lanes, in);
    };
    if (access.space != Space::kGlobal && access.space != Space::kConstant) {
      return add(access.lanes, nullptr);
    }
    const GlobalMemory* memory = block_.launch().config.memory;
    for (Mask left = access.lanes; left;) {
      const auto first = static_cast<unsigned>(std::countr_zero(left));
      const Allocation* in = memory ? memory->find(access.address[first], 1) : nullptr;
      Mask same = 0;
      for_each_lane(left, [&](unsigned i) {
        if (i == first || (in && access.address[i] - in->base < in->size)) same |= kBit[i];
      });
      left &= ~same;
      add(same, in);
    }
  }

  void end() override {
    finish();
    trace_.ended_ |= on_;
    on_ = false;
  }

  ~Writer() override { finish(); }  // where the launch was stopped

 private:
  void finish() {
    if (line_.empty()) return;
    if (trace_.written_ == trace_.limit_) {
      trace_.cut_ = true;
      on_ = false;
    } else {
      const Counters& now = block_.counters;
      if (!accesses_.empty()) line_ += ",\"access\":[" + accesses_ + "]";
      for (const CounterField& field : counter_fields()) {
        const std::uint64_t more = now.*field.value - before_.*field.value;
        if (!field.at_once || more == 0) continue;
        line_ += std::string(",\"") + field.name + "\":" + std::to_string(more);
      }
      line_ += "}\n";
      trace_.write_(line_);
      ++trace_.written_;
    }
    line_.clear();
    accesses_.clear();
  }

  Trace& trace_;
  Block& block_;
  bool on_ = false;
  std::string line_, accesses_;
  Counters before_;
};

std::unique_ptr<BlockObserver> Trace::watch(Block& block) {
  return std::make_unique<Writer>(*this, block);
}

void Trace::head(const LaunchConfig& config, std::uint64_t launch, const std::string& name,
                 const std::string& schedule) {
  const std::string line =
      "{\"trace\":1,\"kernel\":" + quoted(name) + ",\"launch\":" + std::to_string(launch) +
      ",\"grid\":" + listed(config.grid) + ",\"block_size\":" + listed(config.block) +
      ",\"block\":" + listed(block_) + ",\"schedule\":" + quoted(schedule) + "}\n";
  write_(line);
}

void Trace::foot(const LaunchResult& result) {
  std::string line = "{\"end\":";
  if (cut_) {
    line += "\"cut\",\"limit\":" + std::to_string(limit_);
  } else if (ended_) {
    line += "\"complete\"";
  } else {
    line += "\"stopped\",\"why\":" +
            quoted(result.fault ? result.fault->message : "the block did not begin");
  }
  line += ",\"instructions\":" + std::to_string(written_) + "}\n";
  write_(line);
}

}  // namespace emu
