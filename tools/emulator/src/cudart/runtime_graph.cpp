// Graphs and stream capture.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "cudart/graph.hpp"
#include "cudart/runtime.hpp"

namespace emu {
namespace {

Capture* capture_of(Runtime& runtime, cudaStream_t stream) {
  const auto at = std::ranges::find_if(runtime.captures,
                                       [&](const auto& c) { return c->streams.contains(stream); });
  return at == runtime.captures.end() ? nullptr : at->get();
}

Graph* find(Runtime& runtime, cudaGraph_t graph) {
  const auto at = runtime.graphs.find(reinterpret_cast<Graph*>(graph));
  return at == runtime.graphs.end() ? nullptr : at->get();
}

bool is_known(Runtime& runtime, cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         runtime.streams.contains(reinterpret_cast<Stream*>(stream));
}

/// A node whose dependencies are all there already, so that it may stand behind them.
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t handle, const cudaGraphNode_t* after,
                std::size_t count, cudaGraphNodeType type, GraphWork work) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    Graph* graph = find(runtime, handle);
    if (node == nullptr || graph == nullptr || (count > 0 && after == nullptr)) {
      return cudaErrorInvalidValue;
    }
    const auto is_node = [&](cudaGraphNode_t n) {
      return std::ranges::any_of(graph->nodes, [&](const auto& own) {
        return own.get() == reinterpret_cast<GraphNode*>(n);
      });
    };
    if (!std::all_of(after, after + count, is_node)) return cudaErrorInvalidValue;
    graph->nodes.push_back(std::make_unique<GraphNode>(GraphNode{type, std::move(work)}));
    for (std::size_t i = 0; i < count; ++i) {
      graph->nodes.back()->after.push_back(reinterpret_cast<const GraphNode*>(after[i]));
    }
    *node = reinterpret_cast<cudaGraphNode_t>(graph->nodes.back().get());
    return cudaSuccess;
  });
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t handle) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Graph* graph = find(runtime, handle);
    if (exec == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    auto made = std::make_unique<GraphExec>(*graph);
    *exec = reinterpret_cast<cudaGraphExec_t>(made.get());
    runtime.graph_execs.insert(std::move(made));
    return cudaSuccess;
  });
}

/// Whether the calling thread must leave out what may disturb the capture.
bool forbids(const Capture& capture) {
  if (thread_capture_mode() == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) {
    return capture.mode != cudaStreamCaptureModeRelaxed;
  }
  return capture.mode == cudaStreamCaptureModeGlobal &&
         thread_capture_mode() == cudaStreamCaptureModeGlobal;
}

/// While a thread carries out a node.
thread_local std::optional<Timeline> node_line;
thread_local bool called_host = false;  ///< by a node of the graph

}  // namespace

std::optional<Timeline> graph_node_line() {
  return node_line;
}

GraphExec::GraphExec(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    std::vector<std::size_t> after;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (std::ranges::find(node->after, nodes[i].of) != node->after.end()) after.push_back(i);
    }
    nodes.push_back({node.get(), node->type, node->work, std::move(after)});
  }
}

GraphExec::Node* GraphExec::find(const GraphNode* node) {
  const auto at = std::ranges::find(nodes, node, &Node::of);
  return at == nodes.end() ? nullptr : &*at;
}

cudaError_t run(const GraphExec& exec, cudaStream_t stream) {
  // Told of nodes only where it looks for races between them.
  const auto tell = [](const auto& f) {
    api(Needs::kNothing, [&](Runtime& runtime) {
      if (Operations* const order = runtime.operations()) f(runtime, *order);
      return cudaSuccess;
    });
  };
  const std::optional<Timeline> outer = node_line;
  std::optional<Operations::Graph> graph;
  tell([&](Runtime& runtime, Operations& order) {
    graph = order.begin_graph(runtime.line_of(stream));
  });
  cudaError_t status = cudaSuccess;
  for (const GraphExec::Node& node : exec.nodes) {
    if (graph) {
      std::vector<Timeline> after;
      for (const std::size_t i : node.after) after.push_back(graph->nodes[i]);
      tell([&](Runtime&, Operations& order) { node_line = order.begin_node(*graph, after); });
    }
    if (node.enabled) status = node.work();
    called_host |= node.type == cudaGraphNodeTypeHost;
    node_line = outer;
    if (status != cudaSuccess) break;
  }
  if (graph) {
    tell([&](Runtime& runtime, Operations& order) {
      order.end_graph(*graph);
      // What a function of the host has told others the host may know.
      if (!outer && std::exchange(called_host, false)) {
        order.host_waits_for(runtime.line_of(stream));
      }
    });
  }
  return status;
}

std::optional<cudaError_t> capture(cudaStream_t stream, cudaGraphNodeType type, GraphWork work) {
  std::optional<cudaError_t> answer;
  api(Needs::kNothing, [&](Runtime& runtime) {
    Capture* own = capture_of(runtime, stream);
    if (own == nullptr) return cudaSuccess;
    answer = own->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (own->invalid) return *answer;
    Capture::Member& member = own->streams.at(stream);
    own->graph->nodes.push_back(
        std::make_unique<GraphNode>(GraphNode{type, std::move(work), std::move(member.last)}));
    member.last = {own->graph->nodes.back().get()};
    ++member.taken;
    return cudaSuccess;
  });
  return answer;
}

std::optional<cudaError_t> refuse_in_capture(cudaStream_t stream, const char* function) {
  std::optional<cudaError_t> answer;
  api(Needs::kNothing, [&](Runtime& runtime) {
    Capture* own = capture_of(runtime, stream);
    if (own == nullptr) return cudaSuccess;
    own->invalid = true;
    say(std::string(function) + " can't be captured: the stream's capture is lost");
    answer = cudaErrorStreamCaptureUnsupported;
    return *answer;
  });
  return answer;
}

cudaStreamCaptureMode& thread_capture_mode() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

std::optional<cudaError_t> refuse_while_capturing(Touches touches, const char* function) {
  std::optional<cudaError_t> answer;
  api(Needs::kNothing, [&](Runtime& runtime) {
    for (const auto& capture : runtime.captures) {
      if (touches == Touches::kNoStream && !forbids(*capture)) continue;
      if (!std::exchange(capture->invalid, true)) {
        say(std::string(function) + " isn't allowed during a capture: the capture is lost");
      }
      answer = cudaErrorStreamCaptureUnsupported;
    }
    return answer.value_or(cudaSuccess);
  });
  return answer;
}

}  // namespace emu

using emu::api;
using emu::Capture;
using emu::Needs;
using emu::Runtime;

extern "C" {

// --- capture --------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!emu::is_known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (stream == nullptr || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
      return cudaErrorInvalidValue;
    }
    if (emu::capture_of(runtime, stream) != nullptr) return cudaErrorIllegalState;
    auto made = std::make_unique<Capture>();
    made->origin = stream;
    made->mode = mode;
    made->streams[stream] = {};
    runtime.captures.push_back(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (graph == nullptr) return cudaErrorInvalidValue;
    *graph = nullptr;
    Capture* own = emu::capture_of(runtime, stream);
    if (own == nullptr) return cudaErrorIllegalState;
    if (own->origin != stream) {
      own->invalid = true;
      return cudaErrorStreamCaptureUnmatched;
    }
    const bool joined = std::ranges::all_of(own->streams, [&](const auto& s) {
      return s.first == stream || s.second.joined == s.second.taken;
    });
    cudaError_t status = own->invalid ? cudaErrorStreamCaptureInvalidated
                         : !joined    ? cudaErrorStreamCaptureUnjoined
                                      : cudaSuccess;
    if (status == cudaSuccess) {
      *graph = reinterpret_cast<cudaGraph_t>(own->graph.get());
      runtime.graphs.insert(std::move(own->graph));
    }
    std::erase_if(runtime.captures, [&](const auto& c) { return c.get() == own; });
    return status;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!emu::is_known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (status == nullptr) return cudaErrorInvalidValue;
    const Capture* own = emu::capture_of(runtime, stream);
    *status = own == nullptr ? cudaStreamCaptureStatusNone
              : own->invalid ? cudaStreamCaptureStatusInvalidated
                             : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

// --- graphs ---------------------------------------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    auto made = std::make_unique<emu::Graph>();
    *graph = reinterpret_cast<cudaGraph_t>(made.get());
    runtime.graphs.insert(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const auto at = runtime.graphs.find(reinterpret_cast<emu::Graph*>(graph));
    if (at == runtime.graphs.end()) return cudaErrorInvalidValue;
    runtime.graphs.erase(at);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return emu::instantiate(exec, graph);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long) {
  return emu::instantiate(exec, graph);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const auto at = runtime.graph_execs.find(reinterpret_cast<emu::GraphExec*>(exec));
    if (at == runtime.graph_execs.end()) return cudaErrorInvalidValue;
    runtime.graph_execs.erase(at);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!emu::is_known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    return runtime.graph_execs.contains(reinterpret_cast<emu::GraphExec*>(exec))
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  std::shared_ptr<emu::GraphExec> kept;
  cudaError_t status = api(Needs::kDevice, [&](Runtime& runtime) {
    if (!emu::is_known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    const auto at = runtime.graph_execs.find(reinterpret_cast<emu::GraphExec*>(exec));
    if (at == runtime.graph_execs.end()) return cudaErrorInvalidValue;
    kept = std::make_shared<emu::GraphExec>(**at);  // as it is now
    return cudaSuccess;
  });
  if (status != cudaSuccess) return status;
  // A captured stream takes the whole of it down as one.
  const auto work = [kept] { return emu::run(*kept, nullptr); };
  if (const auto taken = emu::capture(stream, cudaGraphNodeTypeGraph, work)) return *taken;
  return emu::run(*kept, stream);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const emu::Graph* graph = emu::find(runtime, handle);
    if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if (nodes != nullptr) {
      for (std::size_t i = 0; i < *count; ++i) {
        nodes[i] = i < graph->nodes.size()
                       ? reinterpret_cast<cudaGraphNode_t>(graph->nodes[i].get())
                       : nullptr;
      }
      *count = std::min(*count, graph->nodes.size());
    } else {
      *count = graph->nodes.size();
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return api(Needs::kDevice, [&](Runtime&) {
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = reinterpret_cast<const emu::GraphNode*>(node)->type;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count) {
  return emu::add(node, graph, after, count, cudaGraphNodeTypeEmpty, [] { return cudaSuccess; });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* kernel) {
  if (kernel == nullptr || kernel->kernelParams == nullptr) {
    return api(Needs::kDevice, [](Runtime&) { return cudaErrorInvalidValue; });
  }
  emu::GraphWork work;
  const cudaError_t status = api(Needs::kDevice, [&](Runtime& runtime) {
    return runtime.keep_launch(
        {.stub = kernel->func,
         .grid = {kernel->gridDim.x, kernel->gridDim.y, kernel->gridDim.z},
         .block = {kernel->blockDim.x, kernel->blockDim.y, kernel->blockDim.z},
         .arguments = kernel->kernelParams,
         .dynamic_shared = kernel->sharedMemBytes},
        work);
  });
  if (status != cudaSuccess) return status;
  return emu::add(node, graph, after, count, cudaGraphNodeTypeKernel, std::move(work));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* to,
                                     const void* from, std::size_t size, cudaMemcpyKind kind) {
  return emu::add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                  [=] { return cudaMemcpyAsync(to, from, size, kind, nullptr); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemcpy3DParms* copy) {
  if (copy == nullptr) return api(Needs::kDevice, [](Runtime&) { return cudaErrorInvalidValue; });
  return emu::add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
                  [kept = *copy] { return cudaMemcpy3DAsync(&kept, nullptr); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemsetParams* set) {
  if (set == nullptr || (set->elementSize != 1 && set->elementSize != 2 && set->elementSize != 4)) {
    return api(Needs::kDevice, [](Runtime&) { return cudaErrorInvalidValue; });
  }
  return emu::add(node, graph, after, count, cudaGraphNodeTypeMemset, [kept = *set] {
    return api(Needs::kDevice, [&](Runtime& runtime) {
      return runtime.operate({"a memset node"}, [&] { return runtime.set_elements(kept); });
    });
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, std::size_t count,
                                 const cudaHostNodeParams* host) {
  if (host == nullptr || host->fn == nullptr) {
    return api(Needs::kDevice, [](Runtime&) { return cudaErrorInvalidValue; });
  }
  return emu::add(node, graph, after, count, cudaGraphNodeTypeHost,
                  [kept = *host] { return cudaLaunchHostFunc(nullptr, kept.fn, kept.userData); });
}

}  // extern "C"
