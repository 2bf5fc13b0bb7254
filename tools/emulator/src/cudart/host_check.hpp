/// \file
/// What host code gets wrong, as `--check host` tells it: calls and launches that failed and were
/// never asked about, addresses of the wrong side, host memory touched while the device may still
/// be at it, data that no kernel was given.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cudart/host_place.hpp"
#include "machine/observer.hpp"
#include "watch/check.hpp"
#include "watch/operations.hpp"

namespace emu {

/// Told of every call of the runtime's, while the runtime's mutex is held.
class HostCheck final : public Observer {
 public:
  explicit HostCheck(Findings& findings) : findings_(findings) {}
  ~HostCheck() override { let_go(); }

  /// Why the call that runs now fails, should it fail. \param kernel  mangled
  void because(std::string why, std::string kernel = {});
  /// A call is over. \param broken  a kernel's fault has broken the device, which is told elsewhere
  void called(cudaError_t status, bool broken);
  /// The program has asked what failed.
  void asked();

  /// The host may touch none of its memory that unfinished work touches, until it has waited: those
  /// pages are taken from it between the calls.
  void keep(std::vector<Operations::Pending> all, const GlobalMemory& memory);
  void let_go();
  /// Host code has touched memory that isn't there for it. \return whether it may go on
  bool touched(std::uintptr_t address, bool writes, const GlobalMemory& memory);

  /// The program ends before the device is done.
  void ends_with(const std::vector<Operations::Pending>& work);
  /// The program is over, or its use of the device. \param status  its own, -1 where it goes on
  void finish(int status, bool broken);

  void started(const LaunchConfig& config) override;
  void allocated(const Allocation& allocation) override;
  void freed(const Allocation& allocation) override;
  void host_wrote(Address, std::uint64_t bytes) override;
  void host_set(Address, std::uint64_t bytes) override;
  void host_read(Address, std::uint64_t bytes) override;
  void host_copied(Address to, Address from, std::uint64_t bytes) override;

  /// "allocated at a.cu:12"; empty where that isn't known.
  std::string made_at(Address base) const;

 private:
  struct Failure {
    std::string call, why, kernel;
    HostPlace place;
    cudaError_t status = cudaSuccess;
    bool went_on = false;  ///< the program has used the device since
    bool launch() const { return call.starts_with("cudaLaunch") || call == "cudaGraphLaunch"; }
  };
  struct Buffer {
    Allocation allocation;
    HostPlace made;
    std::uint64_t filled = 0;  ///< bytes by copies from the host, and used by nothing since
    HostPlace filled_at = {};
    bool set = false;  ///< by cudaMemset, and nothing has run since
  };
  struct Away {
    std::uintptr_t first;
    std::size_t bytes;
    bool written;  ///< by the device
    std::vector<Operations::Pending> work;
  };
  void tell(const Failure& failure, bool asked);
  void tell_unused(const Buffer& buffer);
  Buffer* find(Address address);

  Findings& findings_;
  std::string why_, kernel_;
  std::vector<Failure> failures_, asked_;
  bool failed_ = false;  ///< something has, ever
  std::map<Address, Buffer> buffers_;
  std::vector<Buffer> unused_;            ///< that are freed
  std::optional<HostPlace> read_as_set_;  ///< where the host first read what it had only set
  std::vector<Away> away_;
};

/// Asks whether a number of elements was given to a call that takes bytes; empty where the sizes of
/// elements don't suggest it.
std::string elements_for_bytes(std::uint64_t given, std::uint64_t needed, const std::string& call);

/// Has host code that touches memory of the device's, or memory that the device is at, be told of
/// before it goes on or ends as it would have.
void watch_host_memory();

}  // namespace emu
