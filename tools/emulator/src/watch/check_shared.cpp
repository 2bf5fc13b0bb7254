#include "watch/check_shared.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "machine/block.hpp"
#include "machine/lanes.hpp"

namespace emu {

using Flow = Code::Flow;

bool SharedArrays::tell_apart(Block& block) {
  const Code& code = block.code();
  const std::uint64_t fixed = block.launch().config.kernel->static_shared_bytes;
  return code.shared_variables.size() + (block.shared_bytes() > fixed ? 1 : 0) > 1;
}

SharedArrays::SharedArrays(BlockFindings& findings) : findings_(findings) {
  const Code& code = findings.block().code();
  for (std::uint32_t pc = 0; pc < code.ops.size(); ++pc) {
    if (code.places[pc].flow == 0) continue;
    const Flow& flow = code.flows[code.places[pc].flow];
    for (const Flow::Register& r : std::span(flow.slots).subspan(flow.reads)) {
      written_by_[r.slot].push_back(pc);
    }
  }
  for (const Code::SharedAddress& a : code.shared_addresses) variables_.emplace(a.slot, a.variable);
}

SharedArrays::Array SharedArrays::array(const std::string& name) const {
  Block& block = findings_.block();
  const std::uint64_t fixed = block.launch().config.kernel->static_shared_bytes;
  if (name.empty()) return {"", fixed, block.shared_bytes() - fixed};
  const auto& all = block.code().shared_variables;
  const auto found = std::ranges::find(all, name, &Code::SharedVariable::name);
  return found == all.end() ? Array{} : Array{name, found->offset, found->bytes};
}

/// Back from the address to all constants that it may be made of. Of what was loaded nothing is
/// known: it is an index where the rest has a variable's address.
std::vector<SharedArrays::Array> SharedArrays::find(std::uint32_t pc) const {
  const Code& code = findings_.block().code();
  if (code.places[pc].flow == 0) return {};
  const auto flow_of = [&](std::uint32_t at) -> const Flow& {
    return code.flows[code.places[at].flow];
  };
  std::vector<Slot> open;
  std::set<Slot> seen;
  std::set<std::string> names;
  const auto take = [&](Slot slot) {
    if (!seen.insert(slot).second) return;
    if (const auto v = variables_.find(slot); v != variables_.end()) {
      names.insert(v->second);
    } else {
      open.push_back(slot);
    }
  };
  for (const Flow::Register& r : std::span(flow_of(pc).slots).first(flow_of(pc).reads)) {
    if (r.address) take(r.slot);
  }
  while (!open.empty()) {
    const Slot slot = open.back();
    open.pop_back();
    const auto writers = written_by_.find(slot);
    if (writers == written_by_.end()) continue;
    for (const std::uint32_t at : writers->second) {
      const Flow& flow = flow_of(at);
      if (flow.kind == Flow::Kind::kLoads || flow.kind == Flow::Kind::kUses) continue;
      for (const Flow::Register& r : std::span(flow.slots).first(flow.reads)) {
        if (r.width > 1) take(r.slot);
      }
    }
  }
  std::vector<Array> found;
  for (const std::string& name : names) {
    found.push_back(array(name));
    if (found.back().bytes == 0) return {};
  }
  return found;
}

const std::vector<SharedArrays::Array>& SharedArrays::meant(std::uint32_t pc) {
  const auto [at, fresh] = known_.try_emplace(pc);
  if (fresh) at->second = find(pc);
  return at->second;
}

void SharedArrays::access(const Access& access) {
  if (access.space != Space::kShared || access.home || access.from || access.barrier ||
      access.direction == Direction::kCopy || access.direction == Direction::kBarrier) {
    return;
  }
  const auto pc = static_cast<std::uint32_t>(&access.op - access.warp.code().ops.data());
  const std::vector<Array>& arrays = meant(pc);
  if (arrays.empty()) return;
  for_each_lane(access.lanes, [&](unsigned i) {
    const Address at = access.address[i];
    const auto holds = [&](const Array& a) {
      return at >= a.first && at + access.bytes <= a.first + a.bytes;
    };
    if (std::ranges::any_of(arrays, holds)) return;
    findings_.note("memory", "an access that leaves its array in shared memory", pc, pc, [&] {
      const Array& a = arrays.front();
      const bool before = at < a.first;
      const Address end = a.first + a.bytes;
      const std::uint64_t off = before ? a.first - at : at - std::min(at, end);
      const char* const does = access.direction == Direction::kLoad    ? " reads "
                               : access.direction == Direction::kStore ? " writes "
                                                                       : " updates ";
      std::string text = findings_.thread(access.warp.number(), i) + does +
                         std::to_string(access.bytes) + " bytes at " + findings_.line(pc) + ", " +
                         (at == end ? "right behind the last of "
                          : before  ? std::to_string(off) + " bytes before the first of "
                                    : std::to_string(off) + " bytes past the end of ") +
                         findings_.shared_name(a.name, a.bytes);
      return std::vector<std::string>{findings_.block_name() + ", " + std::move(text),
                                      "there lies " + findings_.memory(Space::kShared, at)};
    });
  });
}

}  // namespace emu
