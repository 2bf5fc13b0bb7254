/// \file
/// How GPUs' sums become one: by direct stores, by atomics, by NCCL, by the host.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "../chapter00_timing/kernels.cuh"
#include "problem.cuh"

namespace chapter14 {

// begin sum-per-gpu
/// A GPU's own sum: chapter 8's whole on its share.
inline void sum_own(const Ints::Launch& l, const Part<int>& part) {
  chapter08::whole<long long><<<part.grid, l.block, 0, part.gpu->stream>>>(
      part.in, part.handed, reinterpret_cast<long long*>(part.words), part.n);
}
/// The total is the result.
inline void finish(const Ints::Launch&, const Part<int>&) {}
// end sum-per-gpu

// begin exact-per-gpu
using ExactKernel = void (*)(const float*, float*, chapter11::Exact*, std::size_t);

/// Chapter 11's exact, for a block.
inline ExactKernel exact_for(unsigned block) {
  switch (block) {
    case 32: return chapter11::exact<32, chapter11::kLoads>;
    case 64: return chapter11::exact<64, chapter11::kLoads>;
    case 128: return chapter11::exact<128, chapter11::kLoads>;
    case 256: return chapter11::exact<256, chapter11::kLoads>;
    case 512: return chapter11::exact<512, chapter11::kLoads>;
    default: return chapter11::exact<1024, chapter11::kLoads>;
  }
}

/// A GPU's own exact sum, as words.
template <class L>
void sum_own(const L& l, const Part<float>& part) {
  exact_for(l.block)<<<part.grid, l.block, l.shared_bytes, part.gpu->stream>>>(
      part.in, part.rounded, part.state, part.n);
  take_words<<<1, 32, 0, part.gpu->stream>>>(part.state, part.words);
}
/// The total is rounded.
template <class L>
void finish(const L&, const Part<float>& part) {
  round_words<<<1, 32, 0, part.gpu->stream>>>(part.totals, part.rounded);
}
// end exact-per-gpu

template <class Input>
unsigned Floats<Input>::grid_of(std::size_t n, unsigned block) const {
  return chapter11::full_grid(exact_for, chapter11::bins_of)(n, block);
}

/// Does what is to be done on each GPU of this process, GPU 0 last: what it waits for is launched
/// before it waits, so this works even where a launch blocks (CUDA_LAUNCH_BLOCKING=1).
template <class L, class Each>
void on_each(const L& l, const Each& each) {
  for (std::size_t i = l.parts.size(); i-- > 0;) {
    const OnDevice there(l.parts[i].gpu->device);
    each(l.parts[i]);
  }
}

template <Does D, class L, class P>
void sum_first(const L& l, const P& part) {
  if constexpr (D == Does::kAll) sum_own(l, part);
}

// begin run-stores
/// Each GPU stores its words in its slot on GPU 0, which waits for their flags. GPU 0 has the total
/// as soon as they are up: no event has to say that a GPU is done.
template <Does D, class L>
void by_stores(const L& l) {
  l.all().fork(l.here());
  on_each(l, [&l](const auto& part) {
    constexpr unsigned kWords = L::kWords;
    sum_first<D>(l, part);
    const cudaStream_t stream = part.gpu->stream;
    if (part.number > 0) {
      Word* const slot = l.slots + std::size_t{part.number} * kWords;
      send<<<1, 32, 0, stream>>>(part.words, kWords, slot, l.flags + part.number);
    } else {
      collect<<<1, 32, 0, stream>>>(part.words, kWords, l.slots, l.flags, l.gpus, part.totals);
      finish(l, part);
    }
  });
}
// end run-stores

// begin run-across
/// All blocks of all GPUs hand in to three words on GPU 0: a launch per GPU, and GPU 0 is told by
/// events that all are done.
inline void by_atomics(const Ints::Launch& l) {
  unsigned parties = 0;
  for (const Part<int>& part : l.parts) parties += part.grid;
  auto* const out = reinterpret_cast<long long*>(l.parts[0].totals);
  l.all().fork(l.here());
  on_each(l, [&](const Part<int>& part) {
    across<<<part.grid, l.block, 0, part.gpu->stream>>>(part.in, l.meeting, out, part.n, parties);
  });
  l.all().join(l.here());
}
// end run-across

/// One thread per GPU hands in.
inline void by_atomics_of_gpus(const Ints::Launch& l) {
  auto* const out = reinterpret_cast<long long*>(l.parts[0].totals);
  l.all().fork(l.here());
  on_each(l, [&](const Part<int>& part) {
    hand_in_sum<<<1, 1, 0, part.gpu->stream>>>(reinterpret_cast<const long long*>(part.words),
                                               l.meeting, out, l.gpus);
  });
  l.all().join(l.here());
}

// begin run-nccl
/// NCCL adds up what all GPUs have: on all of them, or on GPU 0.
template <Does D, Ends E, class L>
void by_nccl(const L& l) {
  constexpr std::size_t kWords = L::kWords;
  l.all().fork(l.here());
  on_each(l, [&l](const auto& part) { sum_first<D>(l, part); });
  l.all().communicators(l.gpus).group(
      E == Ends::kOnAll ? "ncclAllReduce" : "ncclReduce",
      [&l](const Nccl& nccl, std::size_t i, ncclComm_t comm) {
        const auto& part = l.parts[i];
        const cudaStream_t stream = part.gpu->stream;
        return E == Ends::kOnAll ? nccl.AllReduce(part.words, part.totals, kWords, kNcclUint64,
                                                  kNcclSum, comm, stream)
                                 : nccl.Reduce(part.words, part.totals, kWords, kNcclUint64,
                                               kNcclSum, 0, comm, stream);
      });
  on_each(l, [&l](const auto& part) {
    if (E == Ends::kOnAll || part.number == 0) finish(l, part);
  });
}
// end run-nccl

// begin add-on-host
/// On a thread of the runtime's, when all words are there. Of several processes each has a GPU's.
template <class L>
void add_on_host(void* data) {
  const std::unique_ptr<L> l(static_cast<L*>(data));
  constexpr std::size_t kWords = L::kWords;
  using Message = std::array<Word, kWords>;
  try {
    std::vector<Message> all;
    for (const auto& part : l->parts) {
      std::copy_n(part.host, kWords, all.emplace_back().begin());
    }
    if (ranks()) all = ranks()->gather(all[0]);
    std::fill_n(l->host_total, kWords, 0);
    for (const Message& each : all) {
      for (std::size_t k = 0; k < kWords; ++k) l->host_total[k] += each[k];
    }
  } catch (...) {
    l->problem->failed(std::current_exception());
  }
}
// end add-on-host

// begin run-host
/// The naive way: each GPU's words are copied to the host, which adds them and copies the total
/// back. In streams, like the other ways, so that their times are of the same thing.
template <Does D, class L>
void by_host(const L& l) {
  constexpr std::size_t kBytes = L::kWords * sizeof(Word);
  l.all().fork(l.here());
  on_each(l, [&l](const auto& part) {
    sum_first<D>(l, part);
    BOOK_CUDA(
        cudaMemcpyAsync(part.host, part.words, kBytes, cudaMemcpyDeviceToHost, part.gpu->stream));
  });
  l.all().join(l.here());
  BOOK_CUDA(cudaLaunchHostFunc(nullptr, add_on_host<L>, new L(l)));  // which deletes it
  BOOK_CUDA(cudaMemcpyAsync(l.parts[0].totals, l.host_total, kBytes, cudaMemcpyHostToDevice));
  finish(l, l.parts[0]);
}
// end run-host

/// What the events take that a launch over several GPUs begins and ends with.
inline void by_nothing(unsigned gpus, unsigned block) {
  Gpus& all = Gpus::here();
  const unsigned here = ranks() ? 1 : gpus;
  all.fork(here);
  for (unsigned g = here; g-- > 0;) {
    const OnDevice there(all[g].device);
    chapter00::empty<<<1, block, 0, all[g].stream>>>();
  }
  all.join(here);
}

}  // namespace chapter14
