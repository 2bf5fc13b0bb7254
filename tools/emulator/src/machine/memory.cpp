#include "emu/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

#include "machine/observer.hpp"

namespace emu {
namespace {

constexpr std::size_t kMostFreed = 1024;  // remembered for messages

Address distance(const Allocation& a, Address address) {
  if (address < a.base) return a.base - address;
  const Address end = a.base + a.size;
  return address < end ? 0 : address - end;
}

}  // namespace

GlobalMemory::GlobalMemory(std::uint64_t capacity_bytes, Observer* observer)
    : capacity_(capacity_bytes), observer_(observer) {}

GlobalMemory::~GlobalMemory() {
  for (const auto& [base, a] : by_base_) {
    if (observer_) observer_->freed(a);
    std::free(a.owned);
  }
}

std::optional<Address> GlobalMemory::allocate(std::uint64_t size, std::string what,
                                              Allocation::Kind kind) {
  const std::scoped_lock lock(mutex_);
  if (size == 0 || size > capacity_ - used_[device_]) return std::nullopt;
  // At least one unused byte follows each allocation, so that no two touch.
  const std::uint64_t step =
      (size + apart_ + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment;
  if (step > kGlobalEnd - next_) return std::nullopt;
  if (size > std::numeric_limits<std::size_t>::max()) return std::nullopt;
  auto* host = static_cast<std::byte*>(std::calloc(static_cast<std::size_t>(size), 1));
  if (host == nullptr) return std::nullopt;
  // Filling more would take pages that the program may never touch.
  constexpr std::uint64_t kMostFilled = std::uint64_t{256} << 20;
  if (fresh_ != std::byte{0} && kind == Allocation::Kind::kDevice) {
    std::fill_n(host, static_cast<std::size_t>(std::min(size, kMostFilled)), fresh_);
  }
  const Address base = std::exchange(next_, next_ + step);
  const auto [at, fresh] = by_base_.emplace(base, Allocation{.base = base,
                                                             .size = size,
                                                             .host = host,
                                                             .what = std::move(what),
                                                             .kind = kind,
                                                             .owned = host,
                                                             .device = device_});
  used_[device_] += size;
  if (observer_) observer_->allocated(at->second);
  return base;
}

std::optional<Address> GlobalMemory::map(void* host, std::uint64_t size, std::string what,
                                         Allocation::Kind kind) {
  const std::scoped_lock lock(mutex_);
  const auto base = static_cast<Address>(reinterpret_cast<std::uintptr_t>(host));
  if (size == 0 || base + size < base) return std::nullopt;
  if (base < kGlobalEnd && base + size > kSharedWindow) return std::nullopt;
  const auto after = by_base_.lower_bound(base);
  if (after != by_base_.end() && after->first < base + size) return std::nullopt;
  if (after != by_base_.begin()) {
    const Allocation& before = std::prev(after)->second;
    if (before.base + before.size > base) return std::nullopt;
  }
  by_base_.emplace(base, Allocation{.base = base,
                                    .size = size,
                                    .host = static_cast<std::byte*>(host),
                                    .what = std::move(what),
                                    .kind = kind});
  return base;
}

bool GlobalMemory::free(Address base) {
  const std::scoped_lock lock(mutex_);
  const auto at = by_base_.find(base);
  if (at == by_base_.end()) return false;
  if (observer_) observer_->freed(at->second);
  if (at->second.owned != nullptr) {
    used_[at->second.device] -= at->second.size;
    std::free(at->second.owned);
    // The device's own addresses are never given twice: what is remembered stays true.
    at->second.host = at->second.owned = nullptr;
    freed_.insert(by_base_.extract(at));
    if (freed_.size() > kMostFreed) freed_.erase(freed_.begin());
  } else {
    by_base_.erase(at);
  }
  return true;
}

const Allocation* GlobalMemory::find(Address address, std::uint64_t size) const {
  auto at = by_base_.upper_bound(address);
  if (at == by_base_.begin()) return nullptr;
  const Allocation& a = (--at)->second;
  const Address offset = address - a.base;
  return offset <= a.size && size <= a.size - offset && reaches(a) ? &a : nullptr;
}

const Allocation* GlobalMemory::nearest(Address address) const {
  const auto after = by_base_.upper_bound(address);
  const Allocation* best = after == by_base_.end() ? nullptr : &after->second;
  if (after != by_base_.begin()) {
    const Allocation* before = &std::prev(after)->second;
    if (best == nullptr || distance(*before, address) <= distance(*best, address)) best = before;
  }
  return best;
}

const Allocation* GlobalMemory::freed(Address address) const {
  auto at = freed_.upper_bound(address);
  if (at == freed_.begin()) return nullptr;
  const Allocation& a = (--at)->second;
  return address - a.base < a.size ? &a : nullptr;
}

std::uint64_t GlobalMemory::free_bytes() const {
  const std::scoped_lock lock(mutex_);
  return capacity_ - used_[device_];
}

bool GlobalMemory::prepare_heap(std::uint64_t bytes) {
  if (heap_.begun()) return true;
  const std::uint64_t room = apart_ > 1 && bytes <= capacity_ / 4 ? 2 * bytes : bytes;
  const std::optional<Address> base = allocate(room, kHeapName);
  if (base) heap_.begin(*base, bytes, room);
  return base.has_value();
}

void DeviceHeap::begin(Address base, std::uint64_t size, std::uint64_t room) {
  base_ = base;
  size_ = left_ = size;
  room_ = room;
  free_[base] = room;
}

Address DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > size_) return 0;
  constexpr std::uint64_t kStep = 16, kMostApart = 256;
  const std::uint64_t size = (bytes + kStep - 1) / kStep * kStep;
  const std::uint64_t apart = room_ > size_ ? std::min(size, kMostApart) : 0;
  const std::scoped_lock lock(mutex_);
  if (size > left_) return 0;
  Address at = take(bytes, size + apart);
  if (at == 0 && !gone_.empty()) {
    for (const auto& [base, place] : gone_) give_back(base, place.taken);
    gone_.clear();
    at = take(bytes, size + apart);
  }
  if (at != 0) left_ -= size;
  return at;
}

Address DeviceHeap::take(std::uint64_t bytes, std::uint64_t taken) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [base, room] = *it;
    if (room < taken) continue;
    free_.erase(it);
    if (room > taken) free_[base + taken] = room - taken;
    used_[base] = {taken, bytes};
    return base;
  }
  return 0;
}

bool DeviceHeap::free(Address address) {
  const std::scoped_lock lock(mutex_);
  const auto found = used_.find(address);
  if (found == used_.end()) return false;
  const Place place = found->second;
  used_.erase(found);
  left_ += (place.asked + 15) / 16 * 16;
  if (room_ > size_) {
    gone_[address] = place;
  } else {
    give_back(address, place.taken);
  }
  return true;
}

void DeviceHeap::give_back(Address address, std::uint64_t taken) {
  auto after = free_.lower_bound(address);
  if (after != free_.end() && address + taken == after->first) {
    taken += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      before->second += taken;
      return;
    }
  }
  free_[address] = taken;
}

bool DeviceHeap::given(Address address, std::uint64_t bytes) const {
  const std::scoped_lock lock(mutex_);
  auto at = used_.upper_bound(address);
  if (at == used_.begin()) return false;
  --at;
  const std::uint64_t offset = address - at->first;
  return offset <= at->second.asked && bytes <= at->second.asked - offset;
}

std::optional<DeviceHeap::Piece> DeviceHeap::piece_before(Address address) const {
  const std::scoped_lock lock(mutex_);
  std::optional<Piece> piece;
  for (const auto* places : {&used_, &gone_}) {
    auto at = places->upper_bound(address);
    if (at == places->begin()) continue;
    --at;
    if (piece && piece->base > at->first) continue;
    piece = Piece{at->first, at->second.asked, places == &gone_};
  }
  return piece;
}

}  // namespace emu
