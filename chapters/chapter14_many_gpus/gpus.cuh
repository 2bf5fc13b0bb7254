/// \file
/// This process's GPUs: their streams, what orders them, and how fast each reads.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../chapter08_multi_pass/kernels.cuh"
#include "book/buffer.hpp"
#include "book/check.hpp"
#include "book/embedded.hpp"
#include "book/timer.hpp"
#include "book/variant.hpp"
#include "nccl.cuh"
#include "ranks.cuh"
#include "shares.cuh"

namespace chapter14 {

/// GPUs that one process takes at most: as many as one machine has with NVLink between all of them.
constexpr unsigned kMostGpus = 8;

/// While there is one, the current device is another.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    BOOK_CUDA(cudaGetDevice(&before_));
    if (device != before_) BOOK_CUDA(cudaSetDevice(device));
  }
  ~OnDevice() { static_cast<void>(cudaSetDevice(before_)); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// One of this process's GPUs.
struct Gpu {
  int device = 0;
  cudaStream_t stream = nullptr;  ///< of GPU 0 the default stream, where the driver measures
  cudaEvent_t event = nullptr;
  int sm_count = 0, l2_bytes = 0;
};

/// All of them: GPU 0 is the device that was current when they were first asked for.
class Gpus {
 public:
  static Gpus& here() {
    static auto* const all = new Gpus;  // not ended: the runtime may have been by then
    return *all;
  }
  std::size_t count() const { return all_.size(); }
  const Gpu& operator[](std::size_t g) const { return all_[g]; }

  // begin fork-and-join
  // Call both with GPU 0 current: they use its default stream.
  /// Makes the other GPUs' streams wait for all work queued in GPU 0's so far.
  void fork(unsigned gpus) {
    if (gpus < 2) return;
    BOOK_CUDA(cudaEventRecord(all_[0].event, all_[0].stream));
    for (unsigned g = 1; g < gpus; ++g) {
      BOOK_CUDA(cudaStreamWaitEvent(all_[g].stream, all_[0].event));
    }
  }
  /// Has GPU 0's stream wait for what theirs have been given.
  void join(unsigned gpus) {
    for (unsigned g = 1; g < gpus; ++g) {
      BOOK_CUDA(cudaEventRecord(all_[g].event, all_[g].stream));
      BOOK_CUDA(cudaStreamWaitEvent(all_[0].stream, all_[g].event));
    }
  }
  // end fork-and-join

  // begin let-access
  /// Lets all GPUs access GPU 0's memory. Returns why one can't; empty where all can.
  std::string give_access(unsigned gpus) {
    for (; accessed_ < gpus; ++accessed_) {
      const int device = all_[accessed_].device;
      int can = 0;
      BOOK_CUDA(cudaDeviceCanAccessPeer(&can, device, all_[0].device));
      if (can == 0) {
        return "GPU " + std::to_string(accessed_) + " can't access GPU 0's memory";
      }
      const OnDevice there(device);
      const cudaError_t status = cudaDeviceEnablePeerAccess(all_[0].device, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled) {  // by NCCL
        static_cast<void>(cudaGetLastError());
      } else {
        BOOK_CUDA(status);
      }
    }
    return "";
  }
  // end let-access
  /// The same of atomics there, which a link need not have.
  std::string give_atomics(unsigned gpus) {
    std::string why = give_access(gpus);
    for (unsigned g = 1; g < gpus && why.empty(); ++g) {
      int native = 0;
      BOOK_CUDA(cudaDeviceGetP2PAttribute(&native, cudaDevP2PAttrNativeAtomicSupported,
                                          all_[g].device, all_[0].device));
      if (native == 0) {
        why = "GPU " + std::to_string(g) + " has no atomics in GPU 0's memory";
      }
    }
    return why;
  }

  /// Empties the L2 of all GPUs but GPU 0, and has GPU 0's stream wait for that.
  void empty_other_caches(unsigned gpus) {
    for (unsigned g = 1; g < gpus; ++g) {
      const OnDevice there(all_[g].device);
      if (!clean_[g]) {
        clean_[g] = std::make_unique<book::CleanBuffer>(static_cast<std::size_t>(all_[g].l2_bytes),
                                                        all_[g].sm_count);
      }
      clean_[g]->read(all_[g].stream);
    }
    join(gpus);
  }

  /// All that were made, by their number of GPUs.
  static std::map<unsigned, std::unique_ptr<Communicators>>& all_communicators() {
    static auto* const all = new std::map<unsigned, std::unique_ptr<Communicators>>;
    return *all;
  }
  /// Communicators of so many GPUs; of all ranks' where there are ranks.
  Communicators& communicators(unsigned gpus) const {
    std::unique_ptr<Communicators>& made = all_communicators()[gpus];
    if (!made) {
      std::vector<int> devices;
      for (unsigned g = 0; g < (ranks() ? 1 : gpus); ++g) devices.push_back(all_[g].device);
      made = std::make_unique<Communicators>(devices, ranks() ? ranks()->rank() : 0, gpus);
    }
    return *made;
  }
  /// Those that there are; null where NCCL wasn't used.
  static Communicators* made_communicators(unsigned gpus) {
    const auto at = all_communicators().find(gpus);
    return at == all_communicators().end() ? nullptr : at->second.get();
  }

  // begin measured-weights
  /// How large the shares of so many GPUs are to be: by the bandwidth that each has when it adds
  /// up, or all alike where that isn't to be known: on the embedded device, and where nothing but a
  /// variant's own kernels is to run.
  std::vector<double> weights(unsigned gpus, bool may_measure) {
    const std::vector<double> equal(gpus, 1.0);
    if (gpus < 2 || !may_measure || book::on_embedded_device()) return equal;
    if (ranks()) {
      if (speeds_.empty()) speeds_ = ranks()->gather(speed(all_[0]));
    } else {
      for (std::size_t g = speeds_.size(); g < gpus; ++g) speeds_.push_back(speed(all_[g]));
    }
    return weights_of({speeds_.begin(), speeds_.begin() + gpus});
  }
  // end measured-weights

 private:
  Gpus() {
    int home = 0;
    int count = 0;
    BOOK_CUDA(cudaGetDevice(&home));
    BOOK_CUDA(cudaGetDeviceCount(&count));
    add(home);
    for (int device = 0; device < count && !ranks(); ++device) {
      if (device != home) add(device);
    }
    clean_.resize(all_.size());
  }
  void add(int device) {
    const OnDevice there(device);
    Gpu gpu{.device = device};
    if (!all_.empty()) BOOK_CUDA(cudaStreamCreate(&gpu.stream));
    BOOK_CUDA(cudaEventCreateWithFlags(&gpu.event, cudaEventDisableTiming));
    BOOK_CUDA(cudaDeviceGetAttribute(&gpu.sm_count, cudaDevAttrMultiProcessorCount, device));
    BOOK_CUDA(cudaDeviceGetAttribute(&gpu.l2_bytes, cudaDevAttrL2CacheSize, device));
    all_.push_back(gpu);
  }

  /// Bytes per millisecond at which a GPU adds up 256 MiB: the median of five.
  static double speed(const Gpu& gpu) {
    constexpr std::size_t kElements = std::size_t{64} << 20;
    const OnDevice there(gpu.device);
    const book::Buffer<int> in(kElements);
    const book::Buffer<Word3> words(1);
    const book::Buffer<long long> out(1);
    BOOK_CUDA(cudaMemset(in.data(), 0, in.bytes()));
    BOOK_CUDA(cudaMemset(words.data(), 0, words.bytes()));
    cudaEvent_t start = nullptr;
    cudaEvent_t stop = nullptr;
    BOOK_CUDA(cudaEventCreate(&start));
    BOOK_CUDA(cudaEventCreate(&stop));
    std::vector<float> times;
    for (int i = 0; i < 6; ++i) {
      BOOK_CUDA(cudaEventRecord(start));
      chapter08::whole<long long><<<book::resident_grid(kElements / 16, 256), 256>>>(
          in.data(), reinterpret_cast<unsigned long long*>(words.data()), out.data(), kElements);
      BOOK_CUDA(cudaEventRecord(stop));
      BOOK_CUDA(cudaEventSynchronize(stop));
      float ms = 0;
      BOOK_CUDA(cudaEventElapsedTime(&ms, start, stop));
      if (i > 0) times.push_back(ms);  // the first wakes it
    }
    BOOK_CUDA(cudaEventDestroy(start));
    BOOK_CUDA(cudaEventDestroy(stop));
    std::sort(times.begin(), times.end());
    return static_cast<double>(kElements * sizeof(int)) / static_cast<double>(times[2]);
  }
  struct Word3 {
    unsigned long long word[3];
  };

  std::vector<Gpu> all_;
  std::vector<std::unique_ptr<book::CleanBuffer>> clean_;
  std::vector<double> speeds_;
  unsigned accessed_ = 1;
};

}  // namespace chapter14
