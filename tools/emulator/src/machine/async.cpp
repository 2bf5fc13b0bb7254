#include "machine/async.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace emu {

// 20 bits of expected arrivals, 20 of pending ones, 21 of bytes with their sign, 3 of the phase.
Mbarrier Mbarrier::unpack(std::uint64_t bits) {
  Mbarrier m;
  m.expected = static_cast<std::uint32_t>(bits & kMost);
  m.pending = static_cast<std::uint32_t>(bits >> 20 & kMost);
  m.bytes = static_cast<std::int32_t>(static_cast<std::int64_t>(bits << 3) >> 43);
  m.phase = static_cast<std::uint32_t>(bits >> 61);
  return m;
}

std::uint64_t Mbarrier::pack() const {
  return std::uint64_t{expected} | std::uint64_t{pending} << 20 |
         (static_cast<std::uint64_t>(bytes) & 0x1f'ffff) << 40 | std::uint64_t{phase} << 61;
}

bool Mbarrier::complete_if_done() {
  if (pending != 0 || bytes != 0) return false;
  phase = (phase + 1) & 7;
  pending = expected;
  return true;
}

void AsyncCopies::start(std::uint32_t threads, bool watched) {
  count_ = threads;
  watched_ = watched;
  number_ = 0;
  landed_.clear();
  bulk_.clear();
  kept_ = 0;
  if (used_) threads_.clear();
  used_ = false;
}

std::vector<AsyncCopies::Landed> AsyncCopies::take_landed() {
  return std::exchange(landed_, {});
}

AsyncCopies::Thread& AsyncCopies::of(std::uint32_t thread) {
  if (threads_.empty()) threads_.resize(count_);
  used_ = true;
  return threads_[thread];
}

void AsyncCopies::land(const Copy& c) {
  std::memcpy(c.to, c.data.data(), c.bytes);
  landed(c.number);
  --kept_;
}

void AsyncCopies::land(const Bulk& b) {
  std::memcpy(b.to, b.from ? b.from : b.data.data(), b.bytes);
  bool completes = false;
  if (b.barrier) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, b.barrier, sizeof bits);
    Mbarrier m = Mbarrier::unpack(bits);
    m.bytes -= static_cast<std::int32_t>(b.bytes);
    completes = m.complete_if_done();
    bits = m.pack();
    std::memcpy(b.barrier, &bits, sizeof bits);
  }
  landed(b.number, completes);
  --kept_;
}

/// After a copy was added to `kept`: the older half lands where all are too many.
template <class Kept>
void AsyncCopies::make_room(std::vector<Kept>& kept) {
  if (++kept_ <= kMostKept) return;
  const auto half = kept.begin() + static_cast<std::ptrdiff_t>((kept.size() + 1) / 2);
  std::for_each(kept.begin(), half, [&](const Kept& k) { land(k); });
  kept.erase(kept.begin(), half);
}

std::uint64_t AsyncCopies::copy(std::uint32_t thread, std::byte* to, const std::byte* data,
                                unsigned bytes) {
  Thread& t = of(thread);
  Copy c{++number_, to, {}, bytes, t.committed};
  std::memcpy(c.data.data(), data, bytes);
  t.copies.push_back(c);
  make_room(t.copies);
  return c.number;
}

void AsyncCopies::commit(std::uint32_t thread) {
  ++of(thread).committed;
}

void AsyncCopies::wait(std::uint32_t thread, std::uint32_t allowed) {
  Thread& t = of(thread);
  std::erase_if(t.copies, [&](const Copy& c) {
    if (std::uint64_t{c.group} + allowed >= t.committed) return false;
    land(c);
    return true;
  });
}

void AsyncCopies::wait_all(std::uint32_t thread) {
  Thread& t = of(thread);
  for (const Copy& c : t.copies) land(c);
  t.copies.clear();
}

std::uint64_t AsyncCopies::bulk(std::byte* to, const std::byte* from, std::uint32_t bytes,
                                std::byte* barrier) {
  bulk_.push_back({++number_, to, from, bytes, barrier, 0});
  make_room(bulk_);
  return number_;
}

std::uint64_t AsyncCopies::store(std::byte* to, const std::array<std::byte, 16>& data,
                                 std::uint32_t bytes, std::byte* barrier) {
  bulk_.push_back({++number_, to, nullptr, bytes, barrier, 0, data});
  make_room(bulk_);
  return number_;
}

void AsyncCopies::look_at(std::byte* barrier) {
  std::erase_if(bulk_, [&](const Bulk& b) {
    if (b.barrier != barrier) return false;
    land(b);
    return true;
  });
}

std::uint64_t AsyncCopies::bulk_store(std::uint32_t thread, std::byte* to, const std::byte* from,
                                      std::uint32_t bytes) {
  Thread& t = of(thread);
  t.stores.push_back({++number_, to, from, bytes, nullptr, t.stores_committed});
  make_room(t.stores);
  return number_;
}

void AsyncCopies::bulk_commit(std::uint32_t thread) {
  ++of(thread).stores_committed;
}

void AsyncCopies::bulk_wait(std::uint32_t thread, std::uint32_t allowed) {
  Thread& t = of(thread);
  std::erase_if(t.stores, [&](const Bulk& b) {
    if (std::uint64_t{b.group} + allowed >= t.stores_committed) return false;
    land(b);
    return true;
  });
}

bool AsyncCopies::has_stores() const {
  for (const Thread& t : threads_) {
    if (!t.stores.empty()) return true;
  }
  return false;
}

}  // namespace emu
