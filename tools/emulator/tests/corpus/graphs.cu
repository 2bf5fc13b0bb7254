// Graphs: captured from streams, made of nodes, and launched again and again.
#include <cstring>
#include <vector>

#include "check.cuh"

__global__ void add(int* to, int value) {
  to[threadIdx.x] += value;
}
__global__ void twice(int* to) {
  to[threadIdx.x] *= 2;
}

constexpr int kMany = 32;

void count(void* data) {
  ++*static_cast<int*>(data);
}

// One stream, and a second that joins it by events: (in + 3) * 2 into out, and 5 into other.
void captured() {
  Buffer<int> data(kMany), other(kMany);
  std::vector<int> in(kMany, 1), out(kMany, 0);
  int calls = 0, value = 3;
  cudaStream_t stream, side;
  cudaEvent_t forked, joined;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaStreamCreate(&side));
  CUDA(cudaEventCreate(&forked));
  CUDA(cudaEventCreate(&joined));

  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus state;
  CUDA(cudaStreamIsCapturing(stream, &state));
  CHECK(state == cudaStreamCaptureStatusActive);
  CUDA(cudaMemcpyAsync(data.get(), in.data(), kMany * sizeof(int), cudaMemcpyHostToDevice, stream));
  CUDA(cudaEventRecord(forked, stream));
  CUDA(cudaStreamWaitEvent(side, forked, 0));
  CUDA(cudaMemsetAsync(other.get(), 0, kMany * sizeof(int), side));
  add<<<1, kMany, 0, side>>>(other.get(), 5);
  CUDA(cudaEventRecord(joined, side));
  add<<<1, kMany, 0, stream>>>(data.get(), value);
  value = 1000;  // the launch has its own
  twice<<<1, kMany, 0, stream>>>(data.get());
  CUDA(cudaStreamWaitEvent(stream, joined, 0));
  CUDA(cudaLaunchHostFunc(stream, count, &calls));
  CUDA(
      cudaMemcpyAsync(out.data(), data.get(), kMany * sizeof(int), cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaStreamIsCapturing(stream, &state));
  CHECK(state == cudaStreamCaptureStatusNone);
  CHECK(out[0] == 0 && calls == 0);  // nothing has been done yet

  std::size_t nodes = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 7);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphDestroy(graph));
  for (int round = 0; round < 3; ++round) {
    in.assign(kMany, round);  // read when the graph is launched
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(out[0] == (round + 3) * 2 && out[kMany - 1] == (round + 3) * 2);
    CHECK(other.host()[7] == 5);
    CHECK(calls == round + 1);
  }
  CUDA(cudaGraphExecDestroy(exec));

  // A stream that doesn't join again, and one that is waited for: no graph.
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CUDA(cudaEventRecord(forked, stream));
  CUDA(cudaStreamWaitEvent(side, forked, 0));
  add<<<1, kMany, 0, side>>>(other.get(), 5);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
  CHECK(graph == nullptr);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
        cudaErrorStreamCaptureUnsupported);
  CHECK(other.host()[7] == 5);
  cudaGetLastError();
  CUDA(cudaEventDestroy(forked));
  CUDA(cudaEventDestroy(joined));
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaStreamDestroy(side));
}

void made_of_nodes() {
  Buffer<int> data(kMany);
  std::vector<int> out(kMany, 0);
  int value = 4, calls = 0;
  int* to = data.get();
  cudaGraph_t graph;
  cudaGraphNode_t set, kernel, copy, host, empty;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill = {};
  fill.dst = to;
  fill.elementSize = 4;
  fill.value = 100;
  fill.width = kMany;
  fill.height = 1;
  CUDA(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  void* arguments[] = {&to, &value};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(add);
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(kMany);
  launch.kernelParams = arguments;
  CUDA(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
  value = 1000;
  CUDA(cudaGraphAddEmptyNode(&empty, graph, &kernel, 1));
  CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &empty, 1, out.data(), to, kMany * sizeof(int),
                                cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {};
  call.fn = count;
  call.userData = &calls;
  CUDA(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
  cudaGraphNodeType type;
  CUDA(cudaGraphNodeGetType(kernel, &type));
  CHECK(type == cudaGraphNodeTypeKernel);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 1; round < 3; ++round) {
    CUDA(cudaGraphLaunch(exec, nullptr));
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 104 && out[kMany - 1] == 104 && calls == round);
  }
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
  cudaGetLastError();
}

int main() {
  captured();
  made_of_nodes();
  return done();
}
