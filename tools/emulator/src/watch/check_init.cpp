#include "watch/check_init.hpp"

#include <algorithm>

#include "machine/block.hpp"
#include "machine/lanes.hpp"
#include "watch/bits.hpp"

namespace emu {

InitCheck::InitCheck(BlockFindings& findings, Checker& checker)
    : findings_(findings),
      checker_(checker),
      local_bytes_(findings.block().code().local_bytes),
      shared_(static_cast<std::size_t>((findings.block().shared_bytes() + 63) / 64)) {
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
    if (reads(access.direction) && !all_set(last_->bits, offset, access.bytes)) {
      note(access, i, pc, "reads global memory that was never written");
    }
    if (access.direction != Direction::kLoad) set_bits(last_->bits, offset, access.bytes);
  });
}

void InitCheck::of_block(const Access& access, std::uint32_t pc) {
  const bool shared = access.space == Space::kShared;
  Bits& bits = shared ? shared_ : local_;
  for_each_lane(access.lanes, [&](unsigned i) {
    // A stack's frames come and go: what is there was written for another, or wasn't.
    if (!shared && access.address[i] + access.bytes > local_bytes_) return;
    const std::uint64_t thread = access.warp.number() * kLanes + i;
    const std::uint64_t offset = access.address[i] + (shared ? 0 : thread * local_bytes_);
    if (reads(access.direction) && !all_set(bits, offset, access.bytes)) {
      note(access, i, pc,
           shared ? "reads shared memory that was never written"
                  : "reads local memory that it didn't write");
    }
    if (access.direction != Direction::kLoad) set_bits(bits, offset, access.bytes);
  });
}

void InitCheck::note(const Access& access, unsigned lane, std::uint32_t pc, const char* what) {
  findings_.note("init", what, pc, pc, [&] {
    return std::vector<std::string>{
        findings_.block_name() + ", " + findings_.memory(access.space, access.address[lane]),
        findings_.thread(access.warp.number(), lane) +
            (access.direction == Direction::kAtomic ? " updates " : " reads ") +
            std::to_string(access.bytes) + " bytes at " + findings_.line(pc)};
  });
}

}  // namespace emu
