// Graphs and stream capture.
#include <algorithm>
#include <iterator>
#include <map>
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

bool is_known(Runtime& runtime, cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         runtime.streams.contains(reinterpret_cast<Stream*>(stream));
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t handle) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Graph* graph = find_graph(runtime, handle);
    if (exec == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    auto made = std::make_unique<GraphExec>(*graph);
    if (!made->whole) return cudaErrorInvalidValue;
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

Graph::Graph(const Graph& other) {
  std::map<const GraphNode*, const GraphNode*> copies;
  for (const auto& node : other.nodes) {
    nodes.push_back(std::make_unique<GraphNode>(*node));
    GraphNode& made = *nodes.back();
    if (made.does.child) made.does.child = std::make_shared<Graph>(*made.does.child);
    copies[node.get()] = &made;
  }
  for (const auto& node : nodes) {
    for (const GraphNode*& before : node->after) before = copies.at(before);
  }
}

GraphNode* Graph::find(const GraphNode* node) const {
  for (const auto& own : nodes) {
    if (own.get() == node) return own.get();
    if (!own->does.child) continue;
    if (GraphNode* inner = own->does.child->find(node)) return inner;
  }
  return nullptr;
}

Graph* find_graph(Runtime& runtime, cudaGraph_t graph) {
  const auto* wanted = reinterpret_cast<Graph*>(graph);
  const auto within = [&](const auto& self, Graph* own) -> Graph* {
    if (own == wanted) return own;
    for (const auto& node : own->nodes) {
      Graph* child = node->does.child.get();
      if (Graph* found = child == nullptr ? nullptr : self(self, child)) return found;
    }
    return nullptr;
  };
  for (const auto& own : runtime.graphs) {
    if (Graph* found = within(within, own.get())) return found;
  }
  return nullptr;
}

/// Nodes stand mostly in an order that their edges allow; else those that can't yet wait.
GraphExec::GraphExec(const Graph& graph) {
  std::map<const GraphNode*, std::size_t> places;
  std::vector<const GraphNode*> left;
  for (const auto& node : graph.nodes) left.push_back(node.get());
  while (!left.empty()) {
    std::vector<const GraphNode*> waiting;
    for (const GraphNode* node : left) {
      std::vector<std::size_t> after;
      for (const GraphNode* before : node->after) {
        const auto at = places.find(before);
        if (at != places.end()) after.push_back(at->second);
      }
      if (after.size() < node->after.size()) {
        waiting.push_back(node);
        continue;
      }
      places[node] = nodes.size();
      nodes.push_back({.of = node, .type = node->type, .after = std::move(after)});
      nodes.back().set(node->does);
      if (nodes.back().child) whole &= nodes.back().child->whole;
    }
    whole &= waiting.size() < left.size();
    if (!whole) return;
    left = std::move(waiting);
  }
}

GraphExec::Node* GraphExec::find(const GraphNode* node) {
  const auto at = std::ranges::find(nodes, node, &Node::of);
  return at == nodes.end() ? nullptr : &*at;
}

void GraphExec::Node::set(const NodeWork& work) {
  does = work;
  if (!work.child) return;
  child = std::make_shared<GraphExec>(*work.child);
  does.work = [exec = child] { return run(*exec, nullptr); };
}

bool GraphExec::Node::takes(const Graph& graph) const {
  return child && child->like(GraphExec(graph)).first == cudaGraphExecUpdateSuccess;
}

std::pair<cudaGraphExecUpdateResult, const GraphNode*> GraphExec::like(
    const GraphExec& other) const {
  if (nodes.size() != other.nodes.size() || !other.whole) {
    return {cudaGraphExecUpdateErrorTopologyChanged, nullptr};
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node &mine = nodes[i], &theirs = other.nodes[i];
    if (mine.type != theirs.type) return {cudaGraphExecUpdateErrorNodeTypeChanged, theirs.of};
    std::vector<std::size_t> before = mine.after, now = theirs.after;
    std::ranges::sort(before);
    std::ranges::sort(now);
    if (before != now) return {cudaGraphExecUpdateErrorTopologyChanged, theirs.of};
    if (mine.type == cudaGraphNodeTypeMemAlloc || mine.type == cudaGraphNodeTypeMemFree) {
      return {cudaGraphExecUpdateErrorNotSupported, theirs.of};
    }
    if (!mine.child) continue;
    if (const auto inner = mine.child->like(*theirs.child);
        inner.first != cudaGraphExecUpdateSuccess) {
      return inner;
    }
  }
  return {cudaGraphExecUpdateSuccess, nullptr};
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
    if (node.enabled) status = node.does.work();
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

std::optional<cudaError_t> capture(cudaStream_t stream, cudaGraphNodeType type, NodeWork work) {
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

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr)
    return api(Needs::kDevice, [](Runtime&) { return cudaErrorInvalidValue; });
  parameters->errNode_out = nullptr;
  const cudaError_t status = emu::instantiate(exec, graph);
  parameters->result_out =
      status == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  return status;
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

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const emu::Graph* from = emu::find_graph(runtime, graph);
    if (from == nullptr || clone == nullptr) return cudaErrorInvalidValue;
    auto made = std::make_unique<emu::Graph>(*from);
    *clone = reinterpret_cast<cudaGraph_t>(made.get());
    runtime.graphs.insert(std::move(made));
    return cudaSuccess;
  });
}

}  // extern "C"
