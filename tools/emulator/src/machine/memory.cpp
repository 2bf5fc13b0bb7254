#include "emu/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <iterator>
#include <utility>

#include "machine/observer.hpp"

namespace emu {
namespace {

constexpr std::size_t kMostFreed = 1024;                       // remembered for messages
constexpr std::size_t kReserved = kGlobalEnd - kSharedWindow;  // the windows as well

Address distance(const Allocation& a, Address address) {
  if (address < a.base) return a.base - address;
  const Address end = a.base + a.size;
  return address < end ? 0 : address - end;
}

}  // namespace

GlobalMemory::GlobalMemory(std::size_t capacity_bytes, Observer* observer)
    : capacity_(capacity_bytes), observer_(observer) {
  // Address space alone, no memory. Where that is refused (a limit on it, say) all works as well,
  // but for the improbable host pointer that looks like a device's.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a place is asked for by its number
  void* const place = reinterpret_cast<void*>(kSharedWindow);
  void* at = mmap(place, kReserved, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) return;
  if (at == place) {
    reserved_ = at;
  } else {
    munmap(at, kReserved);  // a kernel too old for the flag puts it where it likes
  }
}

GlobalMemory::~GlobalMemory() {
  for (const auto& [base, a] : by_base_) {
    if (observer_) observer_->freed(a);
    std::free(a.owned);
  }
  if (reserved_ != nullptr) munmap(reserved_, kReserved);
}

std::optional<Address> GlobalMemory::allocate(std::size_t size, std::string what,
                                              Allocation::Kind kind) {
  const std::scoped_lock lock(mutex_);
  if (size == 0 || size > capacity_ - used_) return std::nullopt;
  // At least one unused byte follows each allocation, so that no two touch.
  const std::size_t step =
      (size + apart_ + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment;
  if (step > kGlobalEnd - next_) return std::nullopt;
  auto* host = static_cast<std::byte*>(std::calloc(size, 1));
  if (host == nullptr) return std::nullopt;
  const Address base = std::exchange(next_, next_ + step);
  const auto [at, fresh] = by_base_.emplace(base, Allocation{.base = base,
                                                             .size = size,
                                                             .host = host,
                                                             .what = std::move(what),
                                                             .kind = kind,
                                                             .owned = host});
  used_ += size;
  if (observer_) observer_->allocated(at->second);
  return base;
}

std::optional<Address> GlobalMemory::map(void* host, std::size_t size, std::string what,
                                         Allocation::Kind kind) {
  const std::scoped_lock lock(mutex_);
  const auto base = reinterpret_cast<Address>(host);
  if (size == 0 || base + size < base) return std::nullopt;
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
    used_ -= at->second.size;
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

const Allocation* GlobalMemory::find(Address address, std::size_t size) const {
  auto at = by_base_.upper_bound(address);
  if (at == by_base_.begin()) return nullptr;
  const Allocation& a = (--at)->second;
  const Address offset = address - a.base;
  return offset <= a.size && size <= a.size - offset ? &a : nullptr;
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

std::size_t GlobalMemory::free_bytes() const {
  const std::scoped_lock lock(mutex_);
  return capacity_ - used_;
}

bool GlobalMemory::prepare_heap(std::size_t bytes) {
  if (heap_.begun()) return true;
  const std::optional<Address> base = allocate(bytes, kHeapName);
  if (base) heap_.begin(*base, bytes);
  return base.has_value();
}

void DeviceHeap::begin(Address base, std::size_t size) {
  size_ = size;
  free_[base] = size;
}

Address DeviceHeap::allocate(std::size_t bytes) {
  if (bytes == 0 || bytes > size_) return 0;
  constexpr std::size_t kStep = 16;
  const std::size_t size = (bytes + kStep - 1) / kStep * kStep;
  const std::scoped_lock lock(mutex_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [base, room] = *it;
    if (room < size) continue;
    free_.erase(it);
    if (room > size) free_[base + size] = room - size;
    used_[base] = size;
    return base;
  }
  return 0;
}

bool DeviceHeap::free(Address address) {
  const std::scoped_lock lock(mutex_);
  const auto found = used_.find(address);
  if (found == used_.end()) return false;
  std::size_t size = found->second;
  used_.erase(found);
  auto after = free_.lower_bound(address);
  if (after != free_.end() && address + size == after->first) {
    size += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      before->second += size;
      return true;
    }
  }
  free_[address] = size;
  return true;
}

}  // namespace emu
