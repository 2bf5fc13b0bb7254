/// \file
/// NCCL, loaded when it is first asked for: so the program builds and lists its variants where
/// there is none, and takes whichever the reader has, PyTorch's for example.
#pragma once
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <glob.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "book/check.hpp"
#include "book/embedded.hpp"
#include "patience.hpp"
#include "ranks.cuh"

namespace chapter14 {

// begin nccl-declared
/// What this chapter uses of nccl.h, as it has been since 2.14: the first with communicators that
/// don't block.
extern "C" {
using ncclComm_t = struct ncclComm*;
using ncclResult_t = int;
struct ncclUniqueId {
  char internal[128];
};
/// The members that 2.14 had. Later versions take the others to be unset.
struct ncclConfig_t {
  std::size_t size = sizeof(ncclConfig_t);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};
}
constexpr ncclResult_t kNcclSuccess = 0, kNcclCudaError = 1, kNcclInProgress = 7;
constexpr int kNcclInt64 = 4, kNcclUint64 = 5, kNcclSum = 0;
// end nccl-declared

/// NCCL's functions.
class Nccl {
 public:
  int (*GetVersion)(int*) = nullptr;
  const char* (*GetErrorString)(ncclResult_t) = nullptr;
  const char* (*GetLastError)(ncclComm_t) = nullptr;
  ncclResult_t (*GetUniqueId)(ncclUniqueId*) = nullptr;
  ncclResult_t (*CommInitRankConfig)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*) = nullptr;
  ncclResult_t (*CommGetAsyncError)(ncclComm_t, ncclResult_t*) = nullptr;
  ncclResult_t (*CommAbort)(ncclComm_t) = nullptr;
  ncclResult_t (*AllReduce)(const void*, void*, std::size_t, int, int, ncclComm_t,
                            cudaStream_t) = nullptr;
  ncclResult_t (*Reduce)(const void*, void*, std::size_t, int, int, int, ncclComm_t,
                         cudaStream_t) = nullptr;
  ncclResult_t (*GroupStart)() = nullptr;
  ncclResult_t (*GroupEnd)() = nullptr;

  /// The library, looked for once.
  static const Nccl& here() {
    static const Nccl one;
    return one;
  }
  /// Why it can't be used; empty where it can.
  const std::string& missing() const { return missing_; }
  /// "2.27.3"
  std::string version() const {
    int code = 0;
    static_cast<void>(GetVersion(&code));
    return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
           std::to_string(code % 100);
  }

 private:
  Nccl() {
    // begin no-multicast
    // Multicast over NVLink (NVLS) stays off: it takes what a shared machine may not give.
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    // end no-multicast
    const char* named = std::getenv("BOOK_NCCL");
    if (named == nullptr && book::on_embedded_device()) {
      missing_ = "NCCL needs NVIDIA's driver, which the embedded device is not";
      return;
    }
    std::string why;
    for (const std::string& path : places(named)) {
      library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library_ != nullptr) break;
      if (why.empty()) why = dlerror();
    }
    if (library_ == nullptr) {
      missing_ = named != nullptr ? "BOOK_NCCL: " + why
                                  : "no libnccl.so.2 is found: pip install nvidia-nccl-cu13, or "
                                    "BOOK_NCCL=FILE names one";
      return;
    }
    load_all();
    int version = 0;
    if (missing_.empty() && GetVersion(&version) == kNcclSuccess && version < 21400) {
      missing_ = "NCCL is older than 2.14 (" + std::to_string(version) + ")";
    }
  }

  /// Where it may be: as the loader finds it, or a Python package's, of the book's own environment,
  /// the one in use or the system's.
  static std::vector<std::string> places(const char* named) {
    if (named != nullptr) return {named};
    std::vector<std::string> found{"libnccl.so.2"};
    const std::string package = "/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2";
    std::vector<std::string> roots;
    std::error_code ignored;
    auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    for (; folder.has_relative_path(); folder = folder.parent_path()) {
      roots.push_back((folder / ".venv").string());
    }
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      if (const char* root = std::getenv(variable)) roots.emplace_back(root);
    }
    if (const char* home = std::getenv("HOME")) roots.push_back(home + std::string("/.local"));
    roots.insert(roots.end(), {"/usr/local", "/usr", "/opt/*"});
    for (const std::string& root : roots) {
      glob_t all{};
      if (glob((root + package).c_str(), 0, nullptr, &all) == 0) {
        for (std::size_t i = 0; i < all.gl_pathc; ++i) found.emplace_back(all.gl_pathv[i]);
      }
      globfree(&all);
    }
    return found;
  }

  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr && missing_.empty()) {
      missing_ = std::string("NCCL has no ") + name + ": older than 2.14?";
    }
  }
  void load_all() {
    load(GetVersion, "ncclGetVersion");
    load(GetErrorString, "ncclGetErrorString");
    load(GetLastError, "ncclGetLastError");
    load(GetUniqueId, "ncclGetUniqueId");
    load(CommInitRankConfig, "ncclCommInitRankConfig");
    load(CommGetAsyncError, "ncclCommGetAsyncError");
    load(CommAbort, "ncclCommAbort");
    load(AllReduce, "ncclAllReduce");
    load(Reduce, "ncclReduce");
    load(GroupStart, "ncclGroupStart");
    load(GroupEnd, "ncclGroupEnd");
  }

  void* library_ = nullptr;  // kept to the end of the program
  std::string missing_;
};

/// Communicators of this process's GPUs. Nothing here blocks for longer than the deadline: a failed
/// or late GPU ends in an Error, and in communicators that are aborted.
class Communicators {
 public:
  /// \param devices  this process's, in order of their ranks, the first of which is `first`
  /// \param size     GPUs in all
  Communicators(const std::vector<int>& devices, unsigned first, unsigned size)
      : nccl_(Nccl::here()), devices_(devices) {
    ncclUniqueId id{};
    if (first == 0) check(nccl_.GetUniqueId(&id), "ncclGetUniqueId");
    if (ranks()) id = ranks()->gather(id)[0];
    int before = 0;
    BOOK_CUDA(cudaGetDevice(&before));
    comms_.resize(devices.size());
    // begin init-without-blocking
    ncclConfig_t config;
    group("ncclCommInitRankConfig", [&](const Nccl& nccl, std::size_t i, ncclComm_t) {
      if (cudaSetDevice(devices[i]) != cudaSuccess) return kNcclCudaError;
      return nccl.CommInitRankConfig(&comms_[i], static_cast<int>(size), id,
                                     static_cast<int>(first + i), &config);
    });
    // end init-without-blocking
    BOOK_CUDA(cudaSetDevice(before));
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  ~Communicators() { abort(); }

  // begin group-of-calls
  /// The same call on each of this process's GPUs, as one: `call(nccl, i, comm)` for the i-th.
  template <class Call>
  void group(const char* name, const Call& call) {
    check(nccl_.GroupStart(), "ncclGroupStart");
    ncclResult_t called = kNcclSuccess;
    for (std::size_t i = 0; i < comms_.size() && !failed(called); ++i) {
      called = call(nccl_, i, comms_[i]);
    }
    const ncclResult_t ended = nccl_.GroupEnd();  // whatever failed: no abort inside a group
    check(called, name);
    check(ended, name);
    settle(name);  // it is in the streams then
  }
  // end group-of-calls

  /// Throws Error where a communicator has failed; waits for nothing.
  void look() {
    for (const ncclComm_t comm : comms_) {
      ncclResult_t state = kNcclSuccess;
      const ncclResult_t asked = nccl_.CommGetAsyncError(comm, &state);
      check(asked, "ncclCommGetAsyncError");
      check(state, "a communicator");
    }
  }

  /// Ends whatever they are at, and frees them, without waiting for other ranks.
  void abort() noexcept {
    for (const ncclComm_t comm : comms_) {
      if (comm != nullptr) static_cast<void>(nccl_.CommAbort(comm));
    }
    comms_.clear();
  }

 private:
  /// Whether it is neither done nor going on.
  static bool failed(ncclResult_t result) {
    return result != kNcclSuccess && result != kNcclInProgress;
  }
  /// Throws Error for what has failed.
  void check(ncclResult_t result, const char* call) {
    if (!failed(result)) return;
    std::string why = std::string("NCCL: ") + call + ": " + nccl_.GetErrorString(result);
    const char* last = nccl_.GetLastError(nullptr);
    if (last != nullptr && *last != '\0') why += std::string(" (") + last + ")";
    abort();
    throw book::Error(book::ExitCode::kCudaError, why);
  }

  // begin settle-in-time
  /// Waits until no communicator is still at what it was asked for.
  void settle(const char* what) {
    const Deadline deadline;
    for (unsigned turn = 0;; ++turn) {
      bool going_on = false;
      for (const ncclComm_t comm : comms_) {
        ncclResult_t state = kNcclSuccess;
        check(nccl_.CommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
        check(state, what);
        going_on = going_on || state == kNcclInProgress;
      }
      if (!going_on) return;
      if (deadline.over()) {
        abort();
        throw book::Error(book::ExitCode::kCudaError,
                          std::string("NCCL is not done ") + Deadline::text() + ": " + what);
      }
      if (turn < 1000) continue;
      if (ranks()) {
        try {
          ranks()->look_around();
        } catch (...) {
          abort();
          throw;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // end settle-in-time

  const Nccl& nccl_;
  std::vector<int> devices_;
  std::vector<ncclComm_t> comms_;
};

}  // namespace chapter14
