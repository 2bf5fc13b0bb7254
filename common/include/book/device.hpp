/// \file
/// Which device runs the program, and what it could do at best.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace book {

/// What `--device` asks for.
struct DeviceRequest {
  enum class Kind { kAuto, kGpu, kEmbedded };
  Kind kind = Kind::kAuto;
  std::optional<int> index;  ///< gpu:K
  unsigned local_rank = 0;   ///< of several processes, each has the device of this number …
  bool alone = true;         ///< … and where it is the only one, the one that it sees
  unsigned most = 1;         ///< so many the embedded device should be, for who wants several
};

/// A device's attributes, as the runtime reports them.
struct Device {
  int index = 0;
  int count = 1;  ///< how many the process sees
  std::string name = {};
  int major = 0, minor = 0;          ///< compute capability
  int sm_count = 0;                  ///< streaming multiprocessors
  int max_threads_per_sm = 0;        ///< resident threads an SM can hold
  std::size_t l2_bytes = 0;          ///< level-2 cache
  std::size_t global_bytes = 0;      ///< device memory
  std::size_t shared_per_block = 0;  ///< bytes a block may use without asking for more
  std::size_t shared_per_sm = 0;     ///< bytes of shared memory of one SM
  std::size_t shared_optin = 0;      ///< bytes a block may use that has asked for more
  std::size_t shared_reserved = 0;   ///< bytes of each block's that the driver keeps for itself
  int sm_clock_khz = 0;              ///< highest SM clock
  int memory_clock_khz = 0;          ///< highest memory clock
  int memory_bus_bits = 0;           ///< width of the memory bus
  bool ecc = false;                  ///< error correction is on
  int driver_version = 0;            ///< newest CUDA the driver takes: 1000·major + 10·minor
  int runtime_version = 0;           ///< CUDA runtime linked, same form
  bool embedded = false;             ///< the embedded device: it counts, and has no times

  /// memory clock × bus width × 2 transfers per cycle / 8 bits per byte, in 10^9 bytes per second.
  double peak_gb_per_s() const;
};

/// Makes the requested device current and describes it. Where the embedded device is asked for, or
/// kAuto finds no GPU, the program is started again on it: nothing must have been printed before.
///
/// Throws Error: kNotAvailable when no usable device is there (none, a driver too old, a device
/// too old for what this program was built for), kBadArgument when the index does not exist.
Device choose_device(const DeviceRequest& request);

/// Bytes of device memory that are free now.
std::size_t free_device_bytes();

/// CUDA's version number as people write it: 13000 is "13.0".
std::string version_text(int version);

/// The architectures this build carries, e.g. "75-virtual;90-virtual;90-real".
std::string built_for();

}  // namespace book
