#include "decode/register_file.hpp"

#include <algorithm>
#include <array>

#include "decode/builder.hpp"

namespace emu {
namespace {

constexpr Slot kConstantBit = 0x8000'0000u;  // until it is known where constants begin
constexpr std::uint64_t kMostBytes = 1u << 28;

Slot reserve(std::uint64_t& end, unsigned width) {
  const std::uint64_t bytes = width == 1 ? 4 : width / 8 * kLanes;
  end = round_up(end, std::min<std::uint64_t>(bytes, 64));
  const std::uint64_t at = end;
  end += bytes;
  if (end >= kMostBytes) throw Unsupported("a kernel with more registers than can be held");
  return static_cast<Slot>(at);
}

constexpr std::array kSpecials = std::to_array<SpecialName>({
    {"%tid.x", Special::kTidX, 32},
    {"%tid.y", Special::kTidY, 32},
    {"%tid.z", Special::kTidZ, 32},
    {"%ntid.x", Special::kNtidX, 32},
    {"%ntid.y", Special::kNtidY, 32},
    {"%ntid.z", Special::kNtidZ, 32},
    {"%ctaid.x", Special::kCtaidX, 32},
    {"%ctaid.y", Special::kCtaidY, 32},
    {"%ctaid.z", Special::kCtaidZ, 32},
    {"%nctaid.x", Special::kNctaidX, 32},
    {"%nctaid.y", Special::kNctaidY, 32},
    {"%nctaid.z", Special::kNctaidZ, 32},
    {"%laneid", Special::kLaneId, 32},
    {"%warpid", Special::kWarpId, 32},
    {"%nwarpid", Special::kNwarpId, 32},
    {"%smid", Special::kSmId, 32},
    {"%nsmid", Special::kNsmId, 32},
    {"%gridid", Special::kGridId, 64},
    {"%lanemask_eq", Special::kLanemaskEq, 32},
    {"%lanemask_le", Special::kLanemaskLe, 32},
    {"%lanemask_lt", Special::kLanemaskLt, 32},
    {"%lanemask_ge", Special::kLanemaskGe, 32},
    {"%lanemask_gt", Special::kLanemaskGt, 32},
    {"%dynamic_smem_size", Special::kDynamicSmemSize, 32},
    {"%total_smem_size", Special::kTotalSmemSize, 32},
    // The driver's own, of which cooperative groups read these two.
    {"%envreg1", Special::kGridWorkspaceHigh, 32},
    {"%envreg2", Special::kGridWorkspaceLow, 32},
    {"%clusterid.x", Special::kClusterIdX, 32},
    {"%clusterid.y", Special::kClusterIdY, 32},
    {"%clusterid.z", Special::kClusterIdZ, 32},
    {"%nclusterid.x", Special::kNclusterIdX, 32},
    {"%nclusterid.y", Special::kNclusterIdY, 32},
    {"%nclusterid.z", Special::kNclusterIdZ, 32},
    {"%cluster_ctaid.x", Special::kClusterCtaidX, 32},
    {"%cluster_ctaid.y", Special::kClusterCtaidY, 32},
    {"%cluster_ctaid.z", Special::kClusterCtaidZ, 32},
    {"%cluster_nctaid.x", Special::kClusterNctaidX, 32},
    {"%cluster_nctaid.y", Special::kClusterNctaidY, 32},
    {"%cluster_nctaid.z", Special::kClusterNctaidZ, 32},
    {"%cluster_ctarank", Special::kClusterCtarank, 32},
    {"%cluster_nctarank", Special::kClusterNctarank, 32},
    {"%is_explicit_cluster", Special::kIsExplicitCluster, 1},
    {"WARP_SZ", Special::kZero, 0},
});

}  // namespace

const SpecialName* find_special(std::string_view name) {
  const auto it = std::ranges::find(kSpecials, name, &SpecialName::name);
  return it == kSpecials.end() ? nullptr : &*it;
}

bool RegisterFile::full() const {
  return register_bytes_ >= kMostBytes || constant_bytes_ >= kMostBytes;
}

Slot RegisterFile::add(unsigned width) {
  registers_ += width == 64 ? 2 : 1;
  return reserve(register_bytes_, width);
}

Slot RegisterFile::constant(unsigned width, std::uint64_t bits) {
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  const auto [it, fresh] = constants_.try_emplace({width, bits}, 0);
  if (fresh) it->second = new_constant(width, bits);
  return it->second;
}

Slot RegisterFile::new_constant(unsigned width, std::uint64_t bits) {
  const Slot slot = reserve(constant_bytes_, width) | kConstantBit;
  code_.constants.push_back({slot, width, bits});
  return slot;
}

Slot RegisterFile::symbol(std::string_view name, std::int64_t addend, unsigned width) {
  const auto [it, fresh] = symbols_.try_emplace({name, addend}, 0);
  if (fresh) {
    it->second = new_constant(width, 0);
    code_.relocations.push_back({code_.constants.size() - 1, std::string(name), addend});
  }
  return it->second;
}

Slot RegisterFile::special(Special which, unsigned width) {
  const auto [it, fresh] = specials_.try_emplace({which, width}, 0);
  if (fresh) {
    it->second = reserve(constant_bytes_, width) | kConstantBit;
    code_.specials.push_back({it->second, width, which});
  }
  return it->second;
}

Slot RegisterFile::shared(std::string_view name, std::uint64_t place, unsigned width) {
  const auto [it, fresh] = shared_.try_emplace({name, place, width}, 0);
  if (fresh) {
    it->second = new_constant(width, place);
    code_.shared_addresses.push_back({it->second, std::string(name)});
  }
  return it->second;
}

Slot RegisterFile::dynamic_shared(std::int64_t offset, unsigned width) {
  const Slot slot = new_constant(width, static_cast<std::uint64_t>(offset));
  code_.shared_addresses.push_back({slot, ""});
  dynamic_.push_back(code_.constants.size() - 1);
  return slot;
}

void RegisterFile::settle(std::uint64_t dynamic) {
  const std::uint64_t head = round_up(register_bytes_, 64);
  const auto settle = [&](Slot& slot) {
    if (slot & kConstantBit) slot = static_cast<Slot>((slot & ~kConstantBit) + head);
  };
  for (Op& op : code_.ops) {
    for (Slot* slot : {&op.d, &op.a, &op.b, &op.c, &op.guard}) settle(*slot);
    if (op.control == Control::kTogether) settle(op.as<Together>().member);
  }
  for (std::uint32_t& slot : code_.lists) settle(slot);
  for (Code::Flow& flow : code_.flows) {
    for (Code::Flow::Register& r : flow.slots) settle(r.slot);
  }
  for (auto& a : code_.shared_addresses) settle(a.slot);
  for (auto& c : code_.constants) settle(c.slot);
  for (auto& s : code_.specials) settle(s.slot);
  for (const std::size_t i : dynamic_) code_.constants[i].bits += dynamic;
  code_.zeroed_bytes = static_cast<std::size_t>(head);
  code_.file_bytes = static_cast<std::size_t>(head + round_up(constant_bytes_, 64));
}

}  // namespace emu
