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

/// What nodes do is changed, in the graph and where it is instantiated.
struct Changed {
  Buffer<int> data{kMany};
  std::vector<int> out = std::vector<int>(kMany, 0);
  int* to = data.get();
  int value = 4, calls = 0;
  void* arguments[2] = {&to, &value};
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t set, kernel, copy, host;
  cudaMemsetParams fill = {};
  cudaKernelNodeParams launch = {};
  cudaHostNodeParams call = {};

  explicit Changed(int begin) {
    CUDA(cudaGraphCreate(&graph, 0));
    fill.dst = to;
    fill.elementSize = 4;
    fill.value = static_cast<unsigned>(begin);
    fill.width = kMany;
    fill.height = 1;
    launch.func = reinterpret_cast<void*>(add);
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(kMany);
    launch.kernelParams = arguments;
    call.fn = count;
    call.userData = &calls;
    // Added in another order than they run in.
    CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, out.data(), to, kMany * sizeof(int),
                                  cudaMemcpyDeviceToHost));
    CUDA(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch));
    CUDA(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
    CUDA(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    CUDA(cudaGraphAddDependencies(graph, &kernel, &copy, nullptr, 1));
    CUDA(cudaGraphAddDependencies(graph, &set, &kernel, nullptr, 1));
  }
  ~Changed() { CUDA(cudaGraphDestroy(graph)); }
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;
};

void run(cudaGraphExec_t exec) {
  CUDA(cudaGraphLaunch(exec, nullptr));
  CUDA(cudaDeviceSynchronize());
}

void changed() {
  Changed c(100);
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, c.graph, 0));
  run(exec);
  CHECK(c.out[0] == 104 && c.calls == 1);

  // One node, where it is instantiated: the graph stays as it is.
  c.value = 7;
  CUDA(cudaGraphExecKernelNodeSetParams(exec, c.kernel, &c.launch));
  c.value = 1000;
  run(exec);
  CHECK(c.out[kMany - 1] == 107);
  c.fill.value = 1;
  CUDA(cudaGraphExecMemsetNodeSetParams(exec, c.set, &c.fill));
  std::vector<int> elsewhere(kMany, 0);
  CUDA(cudaGraphExecMemcpyNodeSetParams1D(exec, c.copy, elsewhere.data(), c.to, kMany * sizeof(int),
                                          cudaMemcpyDeviceToHost));
  int others = 0;
  c.call.userData = &others;
  CUDA(cudaGraphExecHostNodeSetParams(exec, c.host, &c.call));
  run(exec);
  CHECK(elsewhere[0] == 8 && c.out[0] == 107 && others == 1 && c.calls == 2);
  CHECK(cudaGraphExecKernelNodeSetParams(exec, c.copy, &c.launch) == cudaErrorInvalidValue);
  cudaGetLastError();

  // A node that is left out, and there again.
  unsigned enabled = 7;
  CUDA(cudaGraphNodeSetEnabled(exec, c.kernel, 0));
  CUDA(cudaGraphNodeGetEnabled(exec, c.kernel, &enabled));
  run(exec);
  CHECK(enabled == 0 && elsewhere[0] == 1);
  CUDA(cudaGraphNodeSetEnabled(exec, c.kernel, 1));

  // The parameters of a node, one of them changed, in the graph: from its next instantiation on.
  cudaKernelNodeParams kept;
  CUDA(cudaGraphKernelNodeGetParams(c.kernel, &kept));
  CHECK(kept.func == c.launch.func && kept.blockDim.x == kMany);
  CHECK(*static_cast<int*>(kept.kernelParams[1]) == 4);
  int more = 50;
  void* changed[] = {kept.kernelParams[0], &more};
  kept.kernelParams = changed;
  CUDA(cudaGraphKernelNodeSetParams(c.kernel, &kept));
  run(exec);
  CHECK(elsewhere[0] == 8);
  cudaGraphExec_t next;
  CUDA(cudaGraphInstantiate(&next, c.graph, 0));
  run(next);
  CHECK(c.out[0] == 150);
  CUDA(cudaGraphExecDestroy(next));

  // All of it, by another graph of the same shape; and not of another.
  Changed same(200);
  cudaGraphExecUpdateResultInfo info;
  CUDA(cudaGraphExecUpdate(exec, same.graph, &info));
  CHECK(info.result == cudaGraphExecUpdateSuccess);
  run(exec);
  CHECK(same.out[0] == 204 && same.calls == 1);
  cudaGraphNode_t extra;
  CUDA(cudaGraphAddEmptyNode(&extra, same.graph, nullptr, 0));
  CHECK(cudaGraphExecUpdate(exec, same.graph, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  Changed unlike(1);
  cudaGraph_t turned;
  CUDA(cudaGraphCreate(&turned, 0));
  for (int i = 0; i < 4; ++i) CUDA(cudaGraphAddEmptyNode(&extra, turned, nullptr, 0));
  CHECK(cudaGraphExecUpdate(exec, turned, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorNodeTypeChanged);
  cudaGetLastError();
  run(exec);
  CHECK(same.out[0] == 204 && same.calls == 2);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(turned));

  // In a circle there is nothing to begin with.
  CUDA(cudaGraphAddDependencies(unlike.graph, &unlike.host, &unlike.set, nullptr, 1));
  CHECK(cudaGraphInstantiate(&exec, unlike.graph, 0) == cudaErrorInvalidValue);
  cudaGetLastError();
}

void children() {
  Changed inner(10);
  Buffer<int> other(kMany);
  int* to = inner.to;
  void* arguments[] = {&to};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(twice);
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(kMany);
  launch.kernelParams = arguments;
  cudaGraph_t graph, own, clone;
  cudaGraphNode_t child, after, roots[2];
  std::size_t count = 2;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphAddChildGraphNode(&child, graph, nullptr, 0, inner.graph));
  CUDA(cudaGraphAddKernelNode(&after, graph, &child, 1, &launch));
  CUDA(cudaGraphChildGraphNodeGetGraph(child, &own));
  CHECK(own != inner.graph);  // a copy
  CUDA(cudaGraphGetNodes(own, nullptr, &count));
  CHECK(count == 4);
  count = 2;
  CUDA(cudaGraphGetRootNodes(graph, roots, &count));
  CHECK(count == 1 && roots[0] == child && roots[1] == nullptr);
  CUDA(cudaGraphNodeGetDependencies(after, roots, nullptr, &count));
  CHECK(count == 1 && roots[0] == child);
  CUDA(cudaGraphClone(&clone, graph));
  CUDA(cudaGraphDestroy(graph));
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, clone, 0));
  run(exec);
  CHECK(inner.out[0] == 14 && inner.calls == 1 && inner.data.host()[0] == 28);
  count = 1;
  CUDA(cudaGraphGetRootNodes(clone, roots, &count));
  Changed another(20);
  CUDA(cudaGraphExecChildGraphNodeSetParams(exec, roots[0], another.graph));
  run(exec);
  CHECK(another.out[0] == 24 && inner.data.host()[0] == 56);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(clone));
}

void memory_of_a_graph() {
  Buffer<int> result(kMany);
  cudaGraph_t graph;
  cudaGraphNode_t allocation, set, copy, gone;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory.bytesize = kMany * sizeof(int);
  CUDA(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory));
  CHECK(memory.dptr != nullptr);
  cudaMemsetParams fill = {};
  fill.dst = memory.dptr;
  fill.elementSize = 4;
  fill.value = 9;
  fill.width = kMany;
  fill.height = 1;
  CUDA(cudaGraphAddMemsetNode(&set, graph, &allocation, 1, &fill));
  CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, result.get(), memory.dptr, memory.bytesize,
                                cudaMemcpyDeviceToDevice));
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  run(exec);
  CHECK(result.host()[3] == 9);
  // It is still there, and has to be freed before the next launch.
  CHECK(cudaGraphLaunch(exec, nullptr) == cudaErrorInvalidValue);
  CUDA(cudaFreeAsync(memory.dptr, nullptr));
  run(exec);
  CUDA(cudaFree(memory.dptr));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphAddMemFreeNode(&gone, graph, &copy, 1, memory.dptr));
  CHECK(cudaGraphAddMemFreeNode(&gone, graph, &copy, 1, result.get()) == cudaErrorInvalidValue);
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 0; round < 3; ++round) run(exec);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  cudaGetLastError();
}

void any_node() {
  Buffer<int> data(kMany);
  int* to = data.get();
  int value = 6;
  void* arguments[] = {&to, &value};
  cudaGraph_t graph;
  cudaGraphNode_t node, refused;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams what = {};
  what.type = cudaGraphNodeTypeKernel;
  what.kernel.func = reinterpret_cast<void*>(add);
  what.kernel.gridDim = dim3(1);
  what.kernel.blockDim = dim3(kMany);
  what.kernel.kernelParams = arguments;
  CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &what));
  cudaGraphExec_t exec;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  value = 8;
  CUDA(cudaGraphExecNodeSetParams(exec, node, &what));
  CUDA(cudaMemset(to, 0, kMany * sizeof(int)));
  run(exec);
  CHECK(data.host()[1] == 8);
  what = {};
  what.type = cudaGraphNodeTypeConditional;  // not here, and said so
  CHECK(cudaGraphAddNode(&refused, graph, nullptr, nullptr, 0, &what) == cudaErrorNotSupported);
  cudaGetLastError();
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

int main() {
  captured();
  made_of_nodes();
  changed();
  children();
  memory_of_a_graph();
  any_node();
  return done();
}
