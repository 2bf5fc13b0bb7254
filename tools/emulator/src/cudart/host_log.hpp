/// \file
/// The host's log: what a program's host code asks of the device, as lines of JSON (the README says
/// what is in them).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "machine/observer.hpp"

namespace emu {

/// Writes down allocations, copies, sets and launches in the order in which the host makes them.
/// Addresses become the number of an allocation and an offset, so that every run gives the same
/// lines.
class HostLog : public Observer {
 public:
  /// Takes one line at a time, its end included.
  using Write = std::function<void(std::string_view)>;
  explicit HostLog(Write write) : write_(std::move(write)) {}

  void started(const LaunchConfig&) override;
  void allocated(const Allocation&) override;
  void freed(const Allocation&) override;
  void host_wrote(Address, std::uint64_t bytes) override;
  void host_read(Address, std::uint64_t bytes) override;
  void host_copied(Address to, Address from, std::uint64_t bytes) override;

 private:
  struct Buffer {
    std::uint64_t number, bytes;
    const std::byte* host;
  };
  /// A buffer and an offset as JSON members; empty where the address is in none.
  std::string place(Address) const;
  void transfer(const char* event, Address, std::uint64_t bytes) const;
  /// What a range of a buffer holds, as JSON members.
  std::string content(Address, std::uint64_t bytes) const;
  std::map<Address, Buffer>::const_iterator find(Address) const;

  Write write_;
  std::map<Address, Buffer> buffers_;
  std::uint64_t allocated_ = 0;
};

/// Tells several observers what the host does between launches.
class HostObservers : public Observer {
 public:
  void add(Observer& observer) { all_.push_back(&observer); }
  bool empty() const { return all_.empty(); }

  void allocated(const Allocation& a) override {
    for (Observer* o : all_) o->allocated(a);
  }
  void freed(const Allocation& a) override {
    for (Observer* o : all_) o->freed(a);
  }
  void refused_free(Address address, const std::string& why) override {
    for (Observer* o : all_) o->refused_free(address, why);
  }
  void host_wrote(Address to, std::uint64_t bytes) override {
    for (Observer* o : all_) o->host_wrote(to, bytes);
  }
  void host_set(Address to, std::uint64_t bytes) override {
    for (Observer* o : all_) o->host_set(to, bytes);
  }
  void host_read(Address from, std::uint64_t bytes) override {
    for (Observer* o : all_) o->host_read(from, bytes);
  }
  void host_copied(Address to, Address from, std::uint64_t bytes) override {
    for (Observer* o : all_) o->host_copied(to, from, bytes);
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace emu
