/// \file
/// Which GPU the embedded device passes for: its limits and its attributes.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace emu {

/// A device's attributes under the runtime's numbers (cudaDeviceAttr), and what isn't among them.
struct Profile {
  std::string_view key;          ///< what --device-profile takes
  std::string_view name;         ///< as cudaGetDeviceProperties gives it
  std::size_t global_bytes = 0;  ///< device memory
  unsigned shared_unit = 128;    ///< bytes in which an SM hands out shared memory
  std::map<int, int> attributes;

  int attribute(int which) const { return attributes.at(which); }
  /// 90 for compute capability 9.0.
  int architecture() const;
};

/// The profile of that name; empty when there is none.
std::optional<Profile> find_profile(std::string_view key);
/// The names that find_profile takes; the first is the default.
std::vector<std::string_view> profile_names();

}  // namespace emu
