/// \file
/// Nodes of a graph without an edge between them, and graphs beside other work.
#pragma once
#include "case.cuh"

namespace streams {

inline cudaGraphNode_t kernel_node(cudaGraph_t graph, const cudaGraphNode_t* after,
                                   std::size_t count, void* kernel, void** arguments) {
  cudaKernelNodeParams p{};
  p.func = kernel;
  p.gridDim = dim3(1);
  p.blockDim = dim3(kWords);
  p.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  cudaGraphAddKernelNode(&node, graph, after, count, &p);
  return node;
}

inline void launch(cudaGraph_t graph, cudaStream_t first, cudaStream_t second = nullptr) {
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, first);
  if (second != nullptr) cudaGraphLaunch(exec, second);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

template <bool Faulty>
void nodes_without_an_edge(const World& w) {
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  int *a = w.a, *b = w.b;
  void *first[] = {&a}, *second[] = {&b, &a};
  const cudaGraphNode_t node =
      kernel_node(graph, nullptr, 0, reinterpret_cast<void*>(&fill), first);
  kernel_node(graph, &node, Faulty ? 0 : 1, reinterpret_cast<void*>(&copy), second);
  launch(graph, w.one);
}
template <bool Faulty>
void nodes_joined_too_early(const World& w) {
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  int *a = w.a, *b = w.b;
  void *first[] = {&a}, *second[] = {&b}, *third[] = {&b, &a};
  const cudaGraphNode_t nodes[] = {
      kernel_node(graph, nullptr, 0, reinterpret_cast<void*>(&fill), second),
      kernel_node(graph, nullptr, 0, reinterpret_cast<void*>(&fill), first)};
  kernel_node(graph, nodes, Faulty ? 1 : 2, reinterpret_cast<void*>(&copy), third);
  launch(graph, w.one);
}
template <bool Faulty>
void set_and_copy_nodes(const World& w) {
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaMemsetParams set{};
  set.dst = w.a;
  set.elementSize = 4;
  set.width = kWords;
  set.height = 1;
  cudaGraphNode_t node = nullptr, other = nullptr;
  cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set);
  const std::size_t count = Faulty ? 0 : 1;
  cudaGraphAddMemcpyNode1D(&other, graph, &node, count, w.b, w.a, kBytes, cudaMemcpyDeviceToDevice);
  launch(graph, w.one);
}
template <bool Faulty>
void captured_branches(const World& w) {
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(w.one, cudaStreamCaptureModeGlobal);
  cudaEventRecord(w.event, w.one);
  cudaStreamWaitEvent(w.two, w.event);
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaEventRecord(w.other, w.one);
  if (!Faulty) cudaStreamWaitEvent(w.two, w.other);
  copy<<<1, kWords, 0, w.two>>>(w.b, w.a);
  cudaEventRecord(w.event, w.two);
  cudaStreamWaitEvent(w.one, w.event);
  cudaStreamEndCapture(w.one, &graph);
  launch(graph, w.one);
}
template <bool Faulty>
void graph_beside_a_kernel(const World& w) {
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(w.one, cudaStreamCaptureModeGlobal);
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaStreamEndCapture(w.one, &graph);
  copy<<<1, kWords, 0, w.three>>>(w.b, w.a);
  launch(graph, Faulty ? w.two : w.three);
}
template <bool Faulty>
void one_graph_in_two_streams(const World& w) {
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(w.one, cudaStreamCaptureModeGlobal);
  fill<<<1, kWords, 0, w.one>>>(w.a);
  cudaStreamEndCapture(w.one, &graph);
  launch(graph, w.one, Faulty ? w.two : w.one);
}

inline const Case kGraphs[] = {
    STREAMS_CASE("graphs", nodes_without_an_edge, "kernel streams::fill", "kernel streams::copy",
                 "no edge between two kernels"),
    STREAMS_CASE("graphs", nodes_joined_too_early, "kernel streams::fill", "kernel streams::copy",
                 "an edge from one of two"),
    STREAMS_CASE("graphs", set_and_copy_nodes, "a memset node", "cudaMemcpyAsync",
                 "no edge between a set and a copy"),
    STREAMS_CASE("graphs", captured_branches, "kernel streams::fill", "kernel streams::copy",
                 "one branch doesn't wait for the other"),
    STREAMS_CASE("graphs", graph_beside_a_kernel, "kernel streams::copy", "kernel streams::fill",
                 "a graph in another stream"),
    STREAMS_CASE("graphs", one_graph_in_two_streams, "kernel streams::fill", "kernel streams::fill",
                 "one graph in two streams"),
};

}  // namespace streams
