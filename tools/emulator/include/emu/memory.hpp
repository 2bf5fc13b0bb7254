/// \file
/// Device memory: allocations at stable virtual addresses, every access checked against its own.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace emu {

/// A device address. Global memory begins at kGlobalBase; windows for shared and local memory lie
/// below it, so that a generic address tells its space by its value.
using Address = std::uint64_t;

inline constexpr Address kSharedWindow = 0x0000'2000'0000'0000;  ///< generic addresses of shared
/// In the window of shared memory, and in its own addresses: where that of each block of the
/// cluster begins, from rank 0 on. Below it lies the thread's own block's.
inline constexpr Address kClusterStep = Address{1} << 24;
inline constexpr Address kLocalWindow = 0x0000'2080'0000'0000;  ///< generic addresses of local
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32;
inline constexpr Address kGlobalBase = 0x0000'2100'0000'0000;  ///< first global allocation
inline constexpr Address kGlobalEnd = 0x0000'2500'0000'0000;   ///< past the last: 4 TiB
inline constexpr Address kCodeBase = 0x0000'2600'0000'0000;    ///< pointers to functions
inline constexpr std::uint64_t kHeapBytes = 8 << 20;           ///< of malloc in kernels
inline constexpr const char* kHeapName = "the heap of malloc in kernels";
inline constexpr std::uint64_t kAllocationAlignment = 512;  ///< of every device pointer
inline constexpr unsigned kMostDevices = 64;                ///< that share one range of addresses

/// What one allocation is: found for an access, named in an error.
struct Allocation {
  enum class Kind {
    kDevice,      ///< cudaMalloc
    kPinned,      ///< host memory from cudaHostAlloc, seen by the device too
    kManaged,     ///< cudaMallocManaged, __managed__
    kRegistered,  ///< the program's own host memory (cudaHostRegister)
    kVariable     ///< a module's __device__ or __constant__ variable
  };
  Address base = 0;
  std::uint64_t size = 0;     ///< bytes asked for; an access past them is an error
  std::byte* host = nullptr;  ///< where the bytes are on the host
  std::string what = {};      ///< "cudaMalloc", "__device__ name", …
  Kind kind = Kind::kDevice;
  std::byte* owned = nullptr;  ///< what to free with it; null for mapped host memory
  unsigned device = 0;         ///< whose it is, of several devices

  bool of_host() const { return kind != Kind::kDevice && kind != Kind::kVariable; }
};

/// What kernels get from malloc: pieces of one allocation, which live until they are freed, in
/// whatever kernel. Safe to use from several threads.
class DeviceHeap {
 public:
  /// `size` bytes to give; `room` for them, where more than that leaves some between the pieces.
  void begin(Address base, std::uint64_t size, std::uint64_t room);
  bool begun() const { return size_ != 0; }
  Address allocate(std::uint64_t bytes);  ///< 0 when nothing so large is free
  bool free(Address address);             ///< false when nothing was allocated there

  /// Whether the address lies in the heap, and whether all of some bytes is in one piece.
  bool holds(Address address) const { return address - base_ < room_; }
  bool given(Address address, std::uint64_t bytes) const;
  struct Piece {
    Address base;
    std::uint64_t bytes;  ///< asked for
    bool freed;
  };
  /// The last piece that begins at an address or before, or the one that was freed there.
  std::optional<Piece> piece_before(Address address) const;

 private:
  struct Place {
    std::uint64_t taken;  ///< of the heap, with what is left behind it
    std::uint64_t asked;
  };
  Address take(std::uint64_t bytes, std::uint64_t taken);
  void give_back(Address address, std::uint64_t taken);

  Address base_ = 0;
  std::uint64_t size_ = 0, room_ = 0, left_ = 0;
  std::map<Address, std::uint64_t> free_;  ///< sizes by first address
  std::map<Address, Place> used_;
  std::map<Address, Place> gone_;  ///< freed, and kept back
  mutable std::mutex mutex_;
};

class Observer;  ///< looks on at what is allocated (src/machine/observer.hpp)

/// All global memory of a device, or of several that share one range of addresses. The bytes lie on
/// the host at other addresses: a device address means nothing to host code, as on hardware. Who
/// makes one keeps the range of device addresses free on the host, so that no host address is ever
/// a device's.
///
/// Allocation and freeing are serialised; look-ups from worker threads take no lock, because no
/// allocation changes while a kernel runs (the runtime sees to that).
class GlobalMemory {
 public:
  /// \param capacity_bytes  of each device
  explicit GlobalMemory(std::uint64_t capacity_bytes, Observer* observer = nullptr);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  /// Leaves at least so many bytes between the allocations to come, so that an access past the end
  /// of one doesn't fall into the next.
  void keep_apart(std::uint64_t bytes) { apart_ = bytes; }

  /// What the device's memory is full of when it is new, rather than zeros.
  void fill_fresh(std::byte with) { fresh_ = with; }

  /// Of several devices the one whose memory is given and counted from here on. 0 at first.
  void serve(unsigned device) { device_ = device; }
  /// What an address that lies nowhere in the device's range is to the host, for a message; none:
  /// there is no host.
  std::function<std::string(Address)> host_name;
  /// The devices whose memory can be found, a bit each: those that a kernel reaches, while it runs.
  /// The host's memory can be found always. All at first.
  void reach(std::uint64_t devices) { reach_ = devices; }
  bool reaches(const Allocation& a) const {
    return a.of_host() || (reach_ >> a.device & 1) != 0 || (heap_.begun() && heap_.holds(a.base));
  }

  /// A new allocation of `size` bytes, aligned and zeroed; empty when it does not fit.
  /// Addresses are never given twice, so that a use after free is always seen.
  std::optional<Address> allocate(std::uint64_t size, std::string what,
                                  Allocation::Kind kind = Allocation::Kind::kDevice);
  /// Makes existing host memory visible to the device, at the host's own address. Empty when a part
  /// of it is mapped already, or lies where the device has addresses of its own.
  std::optional<Address> map(void* host, std::uint64_t size, std::string what,
                             Allocation::Kind kind = Allocation::Kind::kPinned);
  /// False when `base` is not the first address of an allocation.
  bool free(Address base);

  /// The allocation that holds [address, address + size), null when none does.
  const Allocation* find(Address address, std::uint64_t size) const;
  /// The allocation closest to an address that lies in none, for error messages.
  const Allocation* nearest(Address address) const;

  /// The freed allocation that held an address; the last few are remembered.
  const Allocation* freed(Address address) const;
  /// The kernels' heap; `prepare_heap` comes before the first kernel that uses it. False when there
  /// is no memory for it.
  bool prepare_heap(std::uint64_t bytes = kHeapBytes);
  DeviceHeap& heap() { return heap_; }
  const DeviceHeap& heap() const { return heap_; }

  std::uint64_t free_bytes() const;
  std::uint64_t capacity() const { return capacity_; }

 private:
  std::uint64_t capacity_;
  std::array<std::uint64_t, kMostDevices> used_{};
  unsigned device_ = 0;
  std::uint64_t reach_ = ~std::uint64_t{0};
  std::uint64_t apart_ = 1;
  std::byte fresh_ = {};
  Address next_ = kGlobalBase;
  std::map<Address, Allocation> by_base_;
  std::map<Address, Allocation> freed_;
  Observer* observer_ = nullptr;
  mutable std::mutex mutex_;
  DeviceHeap heap_;
};

}  // namespace emu
