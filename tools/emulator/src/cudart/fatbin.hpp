/// \file
/// Fat binaries: the containers in which nvcc puts a program's PTX and machine code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace emu {

/// Bytes that aren't a fat binary, or one that can't be read; the message says why.
class FatbinError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One entry of a fat binary: code for one architecture.
struct FatbinEntry {
  enum class Kind { kPtx, kMachineCode, kOther };
  enum class Packing { kNone, kLz4, kZstd };
  Kind kind = Kind::kOther;
  int architecture = 0;  ///< 90 for compute_90 or sm_90
  Packing packing = Packing::kNone;
  std::span<const std::byte> stored;  ///< as it lies in the container
  std::size_t unpacked_size = 0;      ///< where it is packed
};

/// The entries of a container, in order; nothing is copied or unpacked. Whatever the bytes, no
/// read leaves them. Throws FatbinError.
std::vector<FatbinEntry> read_fatbin(std::span<const std::byte> container);

/// The size that a container says it has, from its first bytes: for one of which only the address
/// is known. Throws FatbinError when it doesn't begin like one.
std::size_t fatbin_size(std::span<const std::byte, 16> header);

/// The entry that a device of this architecture runs: the highest PTX that it allows.
std::optional<FatbinEntry> best_ptx(const std::vector<FatbinEntry>& entries, int architecture);

/// The PTX text of an entry, unpacked. Throws FatbinError.
std::string ptx_text(const FatbinEntry& entry);

/// What a fat binary holds, in words: "PTX for 75, 90; machine code for 90".
std::string contents(const std::vector<FatbinEntry>& entries);

}  // namespace emu
