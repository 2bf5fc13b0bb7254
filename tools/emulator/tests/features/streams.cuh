/// \file
/// Streams, events and graphs.
#pragma once
#include "case.cuh"

namespace features::streams {

__global__ void add(int* data, int value) {
  data[threadIdx.x] += value;
}

FEATURE("streams", streams, "streams, and events that order them") {
  Values<int> data(32);
  cudaStream_t first, second;
  cudaEvent_t done;
  cuda(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  cuda(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, 0));
  cuda(cudaEventCreate(&done));
  add<<<1, 32, 0, first>>>(data.get(), 1);
  cuda(cudaEventRecord(done, first));
  cuda(cudaStreamWaitEvent(second, done, 0));
  add<<<1, 32, 0, second>>>(data.get(), 2);
  cuda(cudaStreamSynchronize(second));
  return data[31] == 3 && cudaEventQuery(done) == cudaSuccess;
}

FEATURE("streams", event_times, "times between events (cudaEventElapsedTime)") {
  cudaEvent_t start, stop;
  cuda(cudaEventCreate(&start));
  cuda(cudaEventCreate(&stop));
  Values<int> data(32);
  cuda(cudaEventRecord(start));
  add<<<1, 32>>>(data.get(), 1);
  cuda(cudaEventRecord(stop));
  cuda(cudaEventSynchronize(stop));
  float ms = -1;
  cuda(cudaEventElapsedTime(&ms, start, stop));
  if (ms != ms) refused("cudaEventElapsedTime gives NaN");
  return ms >= 0;
}

FEATURE("streams", host_functions, "host functions in a stream") {
  int called = 0;
  cuda(cudaLaunchHostFunc(
      nullptr, [](void* to) { *static_cast<int*>(to) = 7; }, &called));
  cuda(cudaDeviceSynchronize());
  return called == 7;
}

FEATURE("streams", capture, "graphs captured from a stream") {
  Values<int> data(32);
  cudaStream_t stream;
  cuda(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 32, 0, stream>>>(data.get(), 1);
  add<<<1, 32, 0, stream>>>(data.get(), 2);
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphInstantiate(&runnable, graph, 0));
  for (int i = 0; i < 3; ++i) cuda(cudaGraphLaunch(runnable, stream));
  cuda(cudaStreamSynchronize(stream));
  return data[31] == 9;
}

FEATURE("streams", graphs, "graphs built node by node") {
  Values<int> data(32);
  cudaGraph_t graph;
  cuda(cudaGraphCreate(&graph, 0));
  int* pointer = data.get();
  int value = 4;
  void* arguments[] = {&pointer, &value};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(&add);
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(32);
  kernel.kernelParams = arguments;
  cudaGraphNode_t first, second;
  cuda(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  cuda(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  cudaGraphExec_t runnable;
  cuda(cudaGraphInstantiate(&runnable, graph, 0));
  cuda(cudaGraphLaunch(runnable, nullptr));
  cuda(cudaDeviceSynchronize());
  return data[31] == 8;
}

FEATURE("streams", graph_updates,
        "graphs updated with new arguments (cudaGraphExecKernelNodeSetParams)") {
  Values<int> data(32);
  cudaGraph_t graph;
  cuda(cudaGraphCreate(&graph, 0));
  int* pointer = data.get();
  int value = 4;
  void* arguments[] = {&pointer, &value};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(&add);
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(32);
  kernel.kernelParams = arguments;
  cudaGraphNode_t node;
  cuda(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  cudaGraphExec_t runnable;
  cuda(cudaGraphInstantiate(&runnable, graph, 0));
  value = 5;
  cuda(cudaGraphExecKernelNodeSetParams(runnable, node, &kernel));
  cuda(cudaGraphLaunch(runnable, nullptr));
  cuda(cudaDeviceSynchronize());
  return data[31] == 5;
}

__global__ void after(int* data) {
  cudaGridDependencySynchronize();
  data[threadIdx.x] *= 3;
}
FEATURE("streams", programmatic_launches, "programmatic dependent launch") {
  Values<int> data(32, 1);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(1);
  how.blockDim = dim3(32);
  how.attrs = &attribute;
  how.numAttrs = 1;
  add<<<1, 32>>>(data.get(), 1);
  cuda(cudaLaunchKernelEx(&how, after, data.get()));
  launched();
  return data[31] == 6;
}

}  // namespace features::streams
