/// \file
/// How this chapter's kernels are launched: one after the other, as a graph, as dependent launches
/// and as clusters.
#pragma once
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>

#include "../chapter00_timing/kernels.cuh"
#include "book/check.hpp"
#include "kernels.cuh"

namespace chapter13 {

// begin launch-with
/// Launches a kernel with an attribute, which `<<<>>>` has no place for.
template <class... Parameters>
void launch_with(const cudaLaunchAttribute& attribute, unsigned grid, unsigned block,
                 cudaStream_t stream, void (*kernel)(Parameters...),
                 std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute attributes[] = {attribute};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 1;
  BOOK_CUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
}
// end launch-with

// begin say-dependent
/// The kernel may begin before the one in front of it has ended, if that one lets it.
inline cudaLaunchAttribute dependent() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}
// end say-dependent

// begin say-cluster
/// The grid is made of clusters of so many blocks.
inline cudaLaunchAttribute cluster_of(unsigned blocks) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = blocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  return attribute;
}
/// Clusters of more than eight blocks are not on every device that has clusters: they are asked
/// for first.
template <class... Parameters>
void allow_large_clusters(void (*kernel)(Parameters...)) {
  BOOK_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                 cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}
// end say-cluster

/// How the second of two kernels follows the first.
enum class Second { kOrdinary, kDependent };

/// Threads of the block that adds up what the first pass has left.
constexpr unsigned kSecondBlock = 256;

// begin run-two-passes
template <Second How, class Launch>
void two_passes(const Launch& l, cudaStream_t stream) {
  first_pass<<<l.grid, l.block, 0, stream>>>(l.in, l.partial, l.n);
  if constexpr (How == Second::kDependent) {
    launch_with(dependent(), 1, kSecondBlock, stream, second_pass, l.partial, l.out, l.grid);
  } else {
    second_pass<<<1, kSecondBlock, 0, stream>>>(l.partial, l.out, l.grid);
  }
}
// end run-two-passes

/// Two launches of nothing.
template <Second How, class Launch>
void two_empty(const Launch& l, cudaStream_t stream) {
  chapter00::empty<<<l.grid, l.block, 0, stream>>>();
  if constexpr (How == Second::kDependent) {
    launch_with(dependent(), 1, kSecondBlock, stream, chapter00::empty);
  } else {
    chapter00::empty<<<1, kSecondBlock, 0, stream>>>();
  }
}

// begin graph-of
/// Records what a stream is given as a graph.
class Graph {
 public:
  explicit Graph(const std::function<void(cudaStream_t)>& queue) {
    BOOK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    BOOK_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    queue(stream_);  // records, runs nothing
    BOOK_CUDA(cudaStreamEndCapture(stream_, &graph_));
    BOOK_CUDA(cudaGraphInstantiate(&ready_, graph_, 0));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    static_cast<void>(cudaGraphExecDestroy(ready_));
    static_cast<void>(cudaGraphDestroy(graph_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }
  void launch() const { BOOK_CUDA(cudaGraphLaunch(ready_, nullptr)); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};
// end graph-of

/// Whatever a launch's kernels are given, so that a graph that was made for it can be told.
template <class Launch>
auto key_of(const Launch& l) {
  if constexpr (requires { l.in; }) {
    return std::array{
        reinterpret_cast<std::uintptr_t>(l.in),  reinterpret_cast<std::uintptr_t>(l.partial),
        reinterpret_cast<std::uintptr_t>(l.out), static_cast<std::uintptr_t>(l.n),
        static_cast<std::uintptr_t>(l.grid),     static_cast<std::uintptr_t>(l.block)};
  } else {
    return std::array{static_cast<std::uintptr_t>(l.grid), static_cast<std::uintptr_t>(l.block)};
  }
}

/// The same launches as a graph, which is made when a launch is the first of its kind: the check
/// is, before anything is timed.
template <class Launch>
std::function<void(const Launch&)> as_graph(void (*queue)(const Launch&, cudaStream_t)) {
  struct Last {
    decltype(key_of(std::declval<Launch>())) key;
    std::unique_ptr<Graph> graph;
  };
  return [queue, last = std::make_shared<Last>()](const Launch& l) {
    const auto key = key_of(l);
    if (!last->graph || key != last->key) {
      *last = {key, std::make_unique<Graph>([&](cudaStream_t stream) { queue(l, stream); })};
    }
    last->graph->launch();
  };
}

}  // namespace chapter13
