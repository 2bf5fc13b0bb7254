#include "cudart/host_log.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "watch/json.hpp"

namespace emu {
namespace {

/// The most bytes that are written out; of more there is a check sum.
constexpr std::uint64_t kWrittenOut = 4096;

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<unsigned>(b) >> 4];
    text += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

/// CRC-32 as in zlib and PNG (ISO 3309), a table's entry per byte.
std::uint32_t crc32(std::span<const std::byte> bytes) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      std::uint32_t entry = i;
      for (int bit = 0; bit < 8; ++bit) entry = (entry >> 1) ^ ((entry & 1) * 0xedb88320u);
      table[i] = entry;
    }
    return table;
  }();
  std::uint32_t crc = ~0u;
  for (const std::byte b : bytes) {
    crc = kTable[(crc ^ std::to_integer<std::uint32_t>(b)) & 255] ^ (crc >> 8);
  }
  return ~crc;
}

/// The shortest unit of 1, 2, 4 or 8 bytes that the bytes repeat from end to end; empty for none.
std::span<const std::byte> unit_of(std::span<const std::byte> bytes) {
  for (const std::size_t unit : {1, 2, 4, 8}) {
    if (bytes.size() % unit != 0) break;
    if (std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(unit), bytes.end(), bytes.begin())) {
      return bytes.first(unit);
    }
  }
  return {};
}

std::string extent(const char* name, Dim3 d) {
  return ",\"" + std::string(name) + "\":[" + std::to_string(d.x) + "," + std::to_string(d.y) +
         "," + std::to_string(d.z) + "]";
}

std::string member(const char* name, std::uint64_t value) {
  return ",\"" + std::string(name) + "\":" + std::to_string(value);
}

}  // namespace

void HostLog::started(const LaunchConfig& config) {
  std::string arguments;
  for (const Parameter& p : config.kernel->parameters) {
    const auto bytes = config.parameters.subspan(p.offset, p.size);
    std::string argument;
    if (Address address = 0; p.size == sizeof address) {
      std::memcpy(&address, bytes.data(), sizeof address);
      argument = place(address);
    }
    if (argument.empty()) argument = ",\"bytes\":\"" + hex(bytes) + "\"";
    arguments += (arguments.empty() ? "{" : ",{") + argument.substr(1) + "}";
  }
  write_("{\"event\":\"launch\",\"kernel\":" + quoted(config.kernel->name) +
         extent("grid", config.grid) + extent("block", config.block) +
         member("shared", config.dynamic_shared_bytes) + ",\"cooperative\":" +
         (config.cooperative ? "true" : "false") + ",\"arguments\":[" + arguments + "]}\n");
}

void HostLog::allocated(const Allocation& a) {
  buffers_[a.base] = {allocated_, a.size, a.host};
  write_("{\"event\":\"allocate\"" + member("buffer", allocated_++) + member("bytes", a.size) +
         ",\"name\":" + quoted(a.what) + "}\n");
}

void HostLog::freed(const Allocation& a) {
  const auto at = buffers_.find(a.base);
  if (at == buffers_.end()) return;
  write_("{\"event\":\"free\"" + member("buffer", at->second.number) + "}\n");
  buffers_.erase(at);
}

void HostLog::host_wrote(Address address, std::uint64_t bytes) {
  transfer("write", address, bytes);
}

void HostLog::host_read(Address address, std::uint64_t bytes) {
  transfer("read", address, bytes);
}

void HostLog::host_copied(Address to, Address from, std::uint64_t bytes) {
  const auto object = [&](Address address) {
    const std::string members = place(address);
    return "{" + (members.empty() ? members : members.substr(1)) + "}";
  };
  write_("{\"event\":\"copy\",\"to\":" + object(to) + ",\"from\":" + object(from) +
         member("bytes", bytes) + "}\n");
}

void HostLog::transfer(const char* event, Address address, std::uint64_t bytes) const {
  write_("{\"event\":\"" + std::string(event) + "\"" + place(address) + member("bytes", bytes) +
         content(address, bytes) + "}\n");
}

std::string HostLog::content(Address address, std::uint64_t bytes) const {
  const auto at = find(address);
  if (at == buffers_.end()) return "";
  const std::span held(at->second.host + (address - at->first), bytes);
  if (const auto unit = unit_of(held); !unit.empty()) return ",\"repeats\":\"" + hex(unit) + "\"";
  std::string members = member("crc32", crc32(held));
  if (bytes <= kWrittenOut) members += ",\"data\":\"" + hex(held) + "\"";
  return members;
}

std::string HostLog::place(Address address) const {
  const auto at = find(address);
  if (at == buffers_.end()) return "";
  return member("buffer", at->second.number) + member("offset", address - at->first);
}

std::map<Address, HostLog::Buffer>::const_iterator HostLog::find(Address address) const {
  auto at = buffers_.upper_bound(address);
  if (at == buffers_.begin()) return buffers_.end();
  --at;
  return address - at->first < at->second.bytes ? at : buffers_.end();
}

}  // namespace emu
