/// \file
/// Graphs of what a stream would be given, and streams that are captured into one. Here all is done
/// when a call returns, so a graph is a list of calls, in an order that its edges allow. The edges
/// themselves matter to the race check alone.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "watch/operations.hpp"

namespace emu {

class Runtime;

using GraphWork = std::function<cudaError_t()>;

struct Graph;
struct KeptLaunch;  ///< of a kernel, with its arguments (runtime.hpp)

/// Memory of an allocation node. Its place stays the same from launch to launch.
struct GraphMemory {
  Address address;
  std::size_t size;
  bool given;  ///< a launch has allocated it, and nothing has freed it
};

/// What a node does: work, or all of a child graph's.
struct NodeWork {
  GraphWork work = {};
  std::shared_ptr<KeptLaunch> launch = {};   ///< of a kernel's node
  std::shared_ptr<Graph> child = {};         ///< its own copy
  std::shared_ptr<GraphMemory> memory = {};  ///< of an allocation's node
};

struct GraphNode {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  NodeWork does = {};
  std::vector<const GraphNode*> after = {};  ///< what it depends on
};
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  ///< in the order in which they were added

  Graph() = default;
  Graph(const Graph& other);
  Graph& operator=(const Graph&) = delete;
  GraphNode* find(const GraphNode* node) const;  ///< of a child graph too
};
Graph* find_graph(Runtime& runtime, cudaGraph_t graph);

/// An instantiated one: it keeps what the graph was.
struct GraphExec {
  struct Node {
    const GraphNode* of;  ///< which may be gone
    cudaGraphNodeType type;
    std::vector<std::size_t> after;
    NodeWork does = {};
    std::shared_ptr<GraphExec> child = {};
    bool enabled = true;

    void set(const NodeWork& work);
    bool takes(const Graph& graph) const;  ///< as what its child does from now on
  };
  std::vector<Node> nodes;  ///< each after those that it depends on
  bool whole = true;        ///< it isn't where nodes depend on each other in a circle

  explicit GraphExec(const Graph& graph);
  Node* find(const GraphNode* node);
  /// Whether it differs from another but in what its nodes do; and where.
  std::pair<cudaGraphExecUpdateResult, const GraphNode*> like(const GraphExec& other) const;
};
/// Carries out all of it, for a stream.
cudaError_t run(const GraphExec& exec, cudaStream_t stream);
/// For the race check: the line of the node that this thread carries out.
std::optional<Timeline> graph_node_line();

/// Streams on their way into one graph.
struct Capture {
  struct Member {
    std::size_t taken = 0;                    ///< calls taken down from it
    std::size_t joined = 0;                   ///< of these, what another stream has waited for
    std::vector<const GraphNode*> last = {};  ///< what the next one depends on
  };
  struct Recorded {
    cudaStream_t stream;
    std::size_t taken;
    std::vector<const GraphNode*> last;
  };
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();  ///< which began it
  std::map<cudaStream_t, Member> streams = {};
  /// Where the events recorded in it stand.
  std::map<cudaEvent_t, Recorded> events = {};
  bool invalid = false;
};

/// Takes the work down where the stream is captured, and returns what the call answers; else empty,
/// and the call does its work.
std::optional<cudaError_t> capture(cudaStream_t stream, cudaGraphNodeType type, NodeWork work);
inline std::optional<cudaError_t> capture(cudaStream_t stream, cudaGraphNodeType type,
                                          GraphWork work) {
  return capture(stream, type, NodeWork{.work = std::move(work)});
}

/// A call that waits for a stream, or asks what has become of it, ends its capture.
std::optional<cudaError_t> refuse_in_capture(cudaStream_t stream, const char* function);

/// What the calling thread may do while a stream is captured (cudaThreadExchangeStreamCaptureMode).
cudaStreamCaptureMode& thread_capture_mode();

enum class Touches {
  kNoStream,   ///< may still disturb a capture, as cudaMalloc may: refused where the modes say so
  kAllStreams  ///< and so the captured ones too, in any mode
};
/// A call that names no stream, and that a capture in progress forbids, ends that capture.
std::optional<cudaError_t> refuse_while_capturing(Touches touches, const char* function);

}  // namespace emu
