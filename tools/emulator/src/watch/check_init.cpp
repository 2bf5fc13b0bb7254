#include "watch/check_init.hpp"

#include <algorithm>
#include <utility>

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "watch/bits.hpp"

namespace emu {

InitCheck::InitCheck(BlockFindings& findings, Checker& checker)
    : findings_(findings),
      checker_(checker),
      local_bytes_(findings.block().code().local_bytes),
      shared_(static_cast<std::size_t>((findings.block().shared_bytes() + 63) / 64)),
      unset_(static_cast<unsigned>((findings.block().launch().config.block.volume() + kLanes - 1) /
                                   kLanes)) {
  const std::uint64_t threads =
      (findings.block().launch().config.block.volume() + kLanes - 1) / kLanes * kLanes;
  local_.resize(static_cast<std::size_t>((threads * local_bytes_ + 63) / 64));
}

void InitCheck::begin() {
  std::ranges::fill(shared_, 0);
  const Code& code = findings_.block().code();
  set_bits(shared_, code.driver_shared, code.driver_shared_bytes);
  std::ranges::fill(local_, 0);
  copies_.clear();
  unset_.clear();
}

void InitCheck::instruction(Warp& warp, const Op& op, Mask lanes) {
  unset_.step(warp, op, lanes, [&](const UnsetValues::Origin& origin, Mask its, std::uint32_t pc) {
    for_each_lane(its, [&](unsigned i) { note(origin, i, pc); });
  });
}

void InitCheck::copy_began(const Copy& copy) {
  copies_.emplace(copy.number, OnItsWay{copy.to_space, copy.to, copy.bytes});
  if (copy.from_space == Space::kGeneric) return;
  std::array<Address, kLanes> address{};
  address[copy.lane] = copy.from;
  access({.warp = copy.warp,
          .op = copy.op,
          .lanes = kBit[copy.lane],
          .space = copy.from_space,
          .direction = Direction::kLoad,
          .order = Order::kWeak,
          .bytes = static_cast<unsigned>(copy.bytes),
          .address = address.data(),
          .values = nullptr});
}

void InitCheck::copy_landed(std::uint64_t number) {
  const auto copy = copies_.find(number);
  if (copy == copies_.end()) return;
  const auto [space, to, bytes] = copy->second;
  copies_.erase(copy);
  if (space == Space::kShared) {
    set_bits(shared_, to, bytes);
  } else if (Written* written = checker_.written(to)) {
    set_bits(written->bits, to - written->allocation.base, bytes);
  }
}

void InitCheck::reached(Address at, std::uint64_t bytes) {
  set_bits(shared_, at, bytes);
}

void InitCheck::access(const Access& access) {
  const auto pc = static_cast<std::uint32_t>(&access.op - access.warp.code().ops.data());
  if (access.direction == Direction::kCopy) return;  // told of as a copy
  switch (access.space) {
    case Space::kGlobal: return global(access, pc);
    case Space::kShared:
    case Space::kLocal: return of_block(access, pc);
    default: return;  // constants and parameters come with the launch
  }
}

void InitCheck::global(const Access& access, std::uint32_t pc) {
  for_each_lane(access.lanes, [&](unsigned i) {
    const Address at = access.address[i];
    if (!last_ || at - last_->allocation.base >= last_->allocation.size) {
      last_ = checker_.written(at);
      if (!last_) return;
    }
    const std::uint64_t offset = at - last_->allocation.base;
    if (reads(access.direction)) read(access, last_->bits, i, offset);
    if (access.direction != Direction::kLoad) set_bits(last_->bits, offset, access.bytes);
  });
  finish_load(access, pc, "reads global memory that was never written");
}

void InitCheck::of_block(const Access& access, std::uint32_t pc) {
  const bool shared = access.space == Space::kShared;
  Bits* kept = shared ? &shared_ : &local_;
  if (access.home) {
    access.home->tell([&](BlockObserver& o) {
      if (Bits* const its = o.written_shared()) kept = its;
    });
  }
  Bits& bits = *kept;
  for_each_lane(access.lanes, [&](unsigned i) {
    // A stack's frames come and go: what is there was written for another, or wasn't.
    if (!shared && access.address[i] + access.bytes > local_bytes_) return;
    const std::uint64_t thread = access.warp.number() * kLanes + i;
    const std::uint64_t offset = access.address[i] + (shared ? 0 : thread * local_bytes_);
    if (reads(access.direction)) read(access, bits, i, offset);
    if (access.direction != Direction::kLoad) set_bits(bits, offset, access.bytes);
  });
  finish_load(access, pc,
              shared ? "reads shared memory that was never written"
                     : "reads local memory that it didn't write");
}

/// Notes which elements of a lane nothing has written.
void InitCheck::read(const Access& access, Bits& bits, unsigned lane, std::uint64_t offset) {
  if (all_set(bits, offset, access.bytes)) [[likely]]
    return;
  const Code::Flow* flow = flow_of(access);
  elements_ = flow ? static_cast<unsigned>(flow->slots.size() - flow->reads) : 1;
  const unsigned bytes = access.bytes / elements_;
  for (unsigned k = 0; k < elements_; ++k) {
    if (!all_set(bits, offset + k * bytes, bytes)) missing_[k] |= kBit[lane];
  }
  incomplete_ = true;
}

/// What was loaded into registers is judged where it is used; all else now.
void InitCheck::finish_load(const Access& access, std::uint32_t pc, const char* what) {
  if (!incomplete_) [[likely]]
    return;
  incomplete_ = false;
  UnsetValues::Origin origin{.what = what,
                             .pc = pc,
                             .warp = access.warp.number(),
                             .space = access.space,
                             .direction = access.direction,
                             .bytes = access.bytes,
                             .address = {}};
  for_each_lane(access.lanes, [&](unsigned i) { origin.address[i] = access.address[i]; });
  const Code::Flow* flow = flow_of(access);
  if (!flow) {
    for_each_lane(std::exchange(missing_[0], 0), [&](unsigned i) { note(origin, i, pc); });
    return;
  }
  const auto shared = std::make_shared<const UnsetValues::Origin>(origin);
  for (unsigned k = 0; k < elements_; ++k) {
    const Mask lanes = std::exchange(missing_[k], 0);
    if (lanes) unset_.load(access.warp, flow->slots[flow->reads + k].slot, lanes, shared);
  }
  findings_.block().step(true);
}

/// Of a load into registers that are followed; else null.
const Code::Flow* InitCheck::flow_of(const Access& access) {
  const Code& code = access.warp.code();
  const std::uint32_t flow = code.places[&access.op - code.ops.data()].flow;
  const bool loads = flow != 0 && code.flows[flow].kind == Code::Flow::Kind::kLoads;
  return loads ? &code.flows[flow] : nullptr;
}

void InitCheck::note(const UnsetValues::Origin& origin, unsigned lane, std::uint32_t used_at) {
  findings_.note("init", origin.what, origin.pc, origin.pc, [&] {
    std::vector<std::string> details{
        findings_.block_name() + ", " + findings_.memory(origin.space, origin.address[lane]),
        findings_.thread(origin.warp, lane) +
            (origin.direction == Direction::kAtomic ? " updates " : " reads ") +
            std::to_string(origin.bytes) + " bytes at " + findings_.line(origin.pc)};
    if (findings_.place(used_at) != findings_.place(origin.pc)) {
      details.push_back("and uses them at " + findings_.line(used_at));
    }
    return details;
  });
}

}  // namespace emu
