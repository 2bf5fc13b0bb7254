// Nodes of graphs: what each does, and changing that in a graph or in one that was instantiated.
#include <algorithm>
#include <utility>

#include "cudart/graph.hpp"
#include "cudart/runtime.hpp"
#include "watch/kernel_name.hpp"

namespace emu {
namespace {

/// What a node is to do, made of its parameters; or why not.
struct Made {
  cudaError_t status = cudaSuccess;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  NodeWork node = {};
};

Made invalid() {
  return {.status = cudaErrorInvalidValue};
}

Made made(cudaGraphNodeType type, GraphWork work) {
  return {.type = type, .node = {.work = std::move(work)}};
}

template <class Params>  // of either version
Made kernel_node(const Params* p) {
  if (p == nullptr || p->kernelParams == nullptr) return invalid();
  Made out{.type = cudaGraphNodeTypeKernel};
  out.status = api(Needs::kDevice, [&](Runtime& runtime) {
    return runtime.keep_launch({.stub = p->func,
                                .grid = {p->gridDim.x, p->gridDim.y, p->gridDim.z},
                                .block = {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                                .arguments = p->kernelParams,
                                .dynamic_shared = p->sharedMemBytes},
                               out.node);
  });
  return out;
}

Made copy_node(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  return made(cudaGraphNodeTypeMemcpy,
              [=] { return cudaMemcpyAsync(to, from, size, kind, nullptr); });
}

Made copy_node(const cudaMemcpy3DParms* p) {
  if (p == nullptr) return invalid();
  return made(cudaGraphNodeTypeMemcpy, [kept = *p] { return cudaMemcpy3DAsync(&kept, nullptr); });
}

template <class Params>
Made set_node(const Params* p) {
  if (p == nullptr || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) {
    return invalid();
  }
  cudaMemsetParams kept{};
  kept.dst = p->dst;
  kept.pitch = p->pitch;
  kept.value = p->value;
  kept.elementSize = p->elementSize;
  kept.width = p->width;
  kept.height = p->height;
  return made(cudaGraphNodeTypeMemset, [kept] {
    return api(Needs::kDevice, [&](Runtime& runtime) {
      return runtime.operate({"a memset node"}, [&] { return runtime.set_elements(kept); });
    });
  });
}

template <class Params>
Made host_node(const Params* p) {
  if (p == nullptr || p->fn == nullptr) return invalid();
  return made(cudaGraphNodeTypeHost, [call = p->fn, data = p->userData] {
    return cudaLaunchHostFunc(nullptr, call, data);
  });
}

Made child_node(cudaGraph_t graph) {
  Made out{.status = cudaErrorInvalidValue, .type = cudaGraphNodeTypeGraph};
  api(Needs::kDevice, [&](Runtime& runtime) {
    if (const Graph* child = find_graph(runtime, graph)) {
      out.node.child = std::make_shared<Graph>(*child);
      out.status = cudaSuccess;
    }
    return cudaSuccess;
  });
  return out;
}

/// Memory that a graph has while it runs, and until it is freed. Its place stays the same.
template <class Params>
Made allocation_node(Params* p) {
  if (p == nullptr || p->bytesize == 0) return invalid();
  const auto& pool = p->poolProps;
  if (pool.allocType != cudaMemAllocationTypePinned ||
      pool.location.type != cudaMemLocationTypeDevice || pool.location.id != 0) {
    return invalid();
  }
  Made out{.type = cudaGraphNodeTypeMemAlloc};
  out.status = api(Needs::kDevice, [&](Runtime& runtime) {
    const std::size_t size = p->bytesize;
    const auto address = runtime.memory().allocate(size, "a graph's allocation node");
    if (!address) return runtime.out_of_memory("a graph's allocation node", size);
    // It goes with the last graph that knows of it.
    out.node.memory = std::shared_ptr<GraphMemory>(new GraphMemory{*address, size, false},
                                                   [](const GraphMemory* memory) {
                                                     Runtime& all = Runtime::get();
                                                     all.graph_memory.erase(memory->address);
                                                     all.memory().free(memory->address);
                                                     delete memory;
                                                   });
    runtime.graph_memory[*address] = out.node.memory.get();
    p->dptr = reinterpret_cast<void*>(*address);
    return cudaSuccess;
  });
  if (out.status == cudaSuccess) {
    out.node.work = [memory = out.node.memory.get()] {
      return api(Needs::kDevice, [&](Runtime& runtime) {
        if (std::exchange(memory->given, true)) return cudaErrorInvalidValue;
        runtime.tell_given({"an allocation node"}, "allocates", memory->address, memory->size);
        return cudaSuccess;
      });
    };
  }
  return out;
}

Made free_node(void* pointer) {
  const auto address = reinterpret_cast<Address>(pointer);
  Made out = made(cudaGraphNodeTypeMemFree, [address] {
    return api(Needs::kDevice, [&](Runtime& runtime) {
      const auto at = runtime.graph_memory.find(address);
      if (at == runtime.graph_memory.end() || !std::exchange(at->second->given, false)) {
        return cudaErrorInvalidValue;
      }
      runtime.tell_given({"a free node"}, "frees", address, at->second->size);
      return cudaSuccess;
    });
  });
  api(Needs::kDevice, [&](Runtime& runtime) {
    if (!runtime.graph_memory.contains(address)) out.status = cudaErrorInvalidValue;
    return cudaSuccess;
  });
  return out;
}

Made any_node(cudaGraphNodeParams* p) {
  if (p == nullptr) return invalid();
  switch (p->type) {
    case cudaGraphNodeTypeKernel: return kernel_node(&p->kernel);
    case cudaGraphNodeTypeMemcpy: return copy_node(&p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return set_node(&p->memset);
    case cudaGraphNodeTypeHost: return host_node(&p->host);
    case cudaGraphNodeTypeGraph: return child_node(p->graph.graph);
    case cudaGraphNodeTypeEmpty: return made(cudaGraphNodeTypeEmpty, [] { return cudaSuccess; });
    case cudaGraphNodeTypeMemAlloc: return allocation_node(&p->alloc);
    case cudaGraphNodeTypeMemFree: return free_node(p->free.dptr);
    default: break;
  }
  say(std::string("cudaGraphAddNode: ") +
      (p->type == cudaGraphNodeTypeConditional ? "a conditional node" : "a node of this kind") +
      " is not supported");
  return {.status = cudaErrorNotSupported};
}

/// What is wrong is an error of the call, as if it had been found within.
cudaError_t failed(cudaError_t status) {
  return api(Needs::kNothing, [&](Runtime&) { return status; });
}

/// A node whose dependencies are all there already, so that it may stand behind them.
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t handle, const cudaGraphNode_t* after,
                std::size_t count, Made what) {
  if (what.status != cudaSuccess) return failed(what.status);
  return api(Needs::kDevice, [&](Runtime& runtime) {
    Graph* graph = find_graph(runtime, handle);
    if (node == nullptr || graph == nullptr || (count > 0 && after == nullptr)) {
      return cudaErrorInvalidValue;
    }
    const auto is_node = [&](cudaGraphNode_t n) {
      return graph->find(reinterpret_cast<const GraphNode*>(n)) != nullptr;
    };
    if (!std::all_of(after, after + count, is_node)) return cudaErrorInvalidValue;
    auto added = std::make_unique<GraphNode>();
    added->type = what.type;
    added->does = std::move(what.node);
    for (std::size_t i = 0; i < count; ++i) {
      added->after.push_back(reinterpret_cast<const GraphNode*>(after[i]));
    }
    *node = reinterpret_cast<cudaGraphNode_t>(added.get());
    graph->nodes.push_back(std::move(added));
    return cudaSuccess;
  });
}

GraphNode* find_node(Runtime& runtime, cudaGraphNode_t node) {
  for (const auto& graph : runtime.graphs) {
    if (GraphNode* own = graph->find(reinterpret_cast<const GraphNode*>(node))) return own;
  }
  return nullptr;
}

/// Changes what a node of a graph does from its next instantiation on.
cudaError_t change(cudaGraphNode_t node, Made what) {
  if (what.status != cudaSuccess) return failed(what.status);
  return api(Needs::kDevice, [&](Runtime& runtime) {
    GraphNode* own = find_node(runtime, node);
    if (own == nullptr || own->type != what.type) return cudaErrorInvalidValue;
    own->does = std::move(what.node);
    return cudaSuccess;
  });
}

GraphExec* find_exec(Runtime& runtime, cudaGraphExec_t exec) {
  const auto at = runtime.graph_execs.find(reinterpret_cast<GraphExec*>(exec));
  return at == runtime.graph_execs.end() ? nullptr : at->get();
}

/// Changes what a node does where its graph is instantiated.
cudaError_t change(cudaGraphExec_t handle, cudaGraphNode_t node, Made what) {
  if (what.status != cudaSuccess) return failed(what.status);
  return api(Needs::kDevice, [&](Runtime& runtime) {
    GraphExec* exec = find_exec(runtime, handle);
    GraphExec::Node* own =
        exec == nullptr ? nullptr : exec->find(reinterpret_cast<const GraphNode*>(node));
    if (own == nullptr || own->type != what.type) return cudaErrorInvalidValue;
    if (what.node.child && !own->takes(*what.node.child)) return cudaErrorInvalidValue;
    own->set(what.node);
    return cudaSuccess;
  });
}

/// Up to `*count` of them, the rest null, and how many there are; where none are asked for, only
/// that.
cudaError_t give(const std::vector<const GraphNode*>& from, cudaGraphNode_t* nodes,
                 std::size_t* count) {
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) {
      nodes[i] = i < from.size()
                     ? reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode*>(from[i]))
                     : nullptr;
    }
    *count = std::min(*count, from.size());
  } else {
    *count = from.size();
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace emu

using emu::add;
using emu::api;
using emu::change;
using emu::Graph;
using emu::GraphExec;
using emu::GraphNode;
using emu::Needs;
using emu::Runtime;

extern "C" {

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count) {
  return add(node, graph, after, count,
             emu::made(cudaGraphNodeTypeEmpty, [] { return cudaSuccess; }));
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* kernel) {
  return add(node, graph, after, count, emu::kernel_node(kernel));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* to,
                                     const void* from, std::size_t size, cudaMemcpyKind kind) {
  return add(node, graph, after, count, emu::copy_node(to, from, size, kind));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemcpy3DParms* copy) {
  return add(node, graph, after, count, emu::copy_node(copy));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemsetParams* set) {
  return add(node, graph, after, count, emu::set_node(set));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, std::size_t count,
                                 const cudaHostNodeParams* host) {
  return add(node, graph, after, count, emu::host_node(host));
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, std::size_t count,
                                       cudaGraph_t child) {
  return add(node, graph, after, count, emu::child_node(child));
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count,
                                     cudaMemAllocNodeParams* allocation) {
  return add(node, graph, after, count, emu::allocation_node(allocation));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, std::size_t count,
                                    void* pointer) {
  return add(node, graph, after, count, emu::free_node(pointer));
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, std::size_t count,
                             cudaGraphNodeParams* what) {
  if (edges != nullptr) {  // which say that a kernel may begin before the one before it is over
    emu::say("cudaGraphAddNode: edges with data are taken as whole ones");
  }
  return add(node, graph, after, count, emu::any_node(what));
}

// --- what they do from now on ---------------------------------------------------------------

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* kernel) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const GraphNode* own = emu::find_node(runtime, node);
    if (own == nullptr || kernel == nullptr || !own->does.launch) return cudaErrorInvalidValue;
    // The pointers are the node's own, and good for as long as it does this.
    emu::KeptLaunch& kept = *own->does.launch;
    *kernel = {};
    kernel->func = const_cast<void*>(kept.request.stub);
    kernel->gridDim = dim3(kept.request.grid.x, kept.request.grid.y, kept.request.grid.z);
    kernel->blockDim = dim3(kept.request.block.x, kept.request.block.y, kept.request.block.z);
    kernel->sharedMemBytes = static_cast<unsigned>(kept.request.dynamic_shared);
    kernel->kernelParams = kept.arguments.data();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return change(node, emu::kernel_node(p));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return change(node, emu::copy_node(p));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t size, cudaMemcpyKind kind) {
  return change(node, emu::copy_node(to, from, size, kind));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return change(node, emu::set_node(p));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return change(node, emu::host_node(p));
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return change(node, emu::any_node(p));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* p) {
  return change(exec, node, emu::kernel_node(p));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* p) {
  return change(exec, node, emu::copy_node(p));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t size,
                                               cudaMemcpyKind kind) {
  return change(exec, node, emu::copy_node(to, from, size, kind));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* p) {
  return change(exec, node, emu::set_node(p));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* p) {
  return change(exec, node, emu::host_node(p));
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return change(exec, node, emu::child_node(child));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* p) {
  return change(exec, node, emu::any_node(p));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node,
                                    unsigned enabled) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    GraphExec* exec = emu::find_exec(runtime, handle);
    GraphExec::Node* own =
        exec == nullptr ? nullptr : exec->find(reinterpret_cast<const GraphNode*>(node));
    const auto may = {cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemset, cudaGraphNodeTypeMemcpy};
    if (own == nullptr || std::find(may.begin(), may.end(), own->type) == may.end()) {
      return cudaErrorInvalidValue;
    }
    own->enabled = enabled != 0;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node,
                                    unsigned* enabled) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    GraphExec* exec = emu::find_exec(runtime, handle);
    const GraphExec::Node* own =
        exec == nullptr ? nullptr : exec->find(reinterpret_cast<const GraphNode*>(node));
    if (own == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = own->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    GraphExec* exec = emu::find_exec(runtime, handle);
    const Graph* from = emu::find_graph(runtime, graph);
    if (exec == nullptr || from == nullptr || info == nullptr) return cudaErrorInvalidValue;
    const GraphExec fresh(*from);
    const auto [result, node] = exec->like(fresh);
    *info = {};
    info->result = result;
    info->errorNode = reinterpret_cast<cudaGraphNode_t>(const_cast<GraphNode*>(node));
    if (result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
    for (std::size_t i = 0; i < fresh.nodes.size(); ++i) {
      exec->nodes[i].set(fresh.nodes[i].does);
    }
    return cudaSuccess;
  });
}

// --- how they hang together -----------------------------------------------------------------

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const GraphNode* own = emu::find_node(runtime, node);
    if (own == nullptr || graph == nullptr || !own->does.child) return cudaErrorInvalidValue;
    *graph = reinterpret_cast<cudaGraph_t>(own->does.child.get());
    return cudaSuccess;
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Graph* graph = emu::find_graph(runtime, handle);
    if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
    std::vector<const GraphNode*> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return emu::give(all, nodes, count);
  });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const Graph* graph = emu::find_graph(runtime, handle);
    if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
    std::vector<const GraphNode*> roots;
    for (const auto& node : graph->nodes) {
      if (node->after.empty()) roots.push_back(node.get());
    }
    return emu::give(roots, nodes, count);
  });
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* edges, std::size_t* count) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const GraphNode* own = emu::find_node(runtime, node);
    if (own == nullptr || count == nullptr) return cudaErrorInvalidValue;
    const cudaError_t status = emu::give(own->after, nodes, count);
    if (nodes != nullptr && edges != nullptr) std::fill_n(edges, *count, cudaGraphEdgeData{});
    return status;
  });
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     std::size_t count) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    Graph* graph = emu::find_graph(runtime, handle);
    if (graph == nullptr || (count > 0 && (from == nullptr || to == nullptr))) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const GraphNode* first = graph->find(reinterpret_cast<const GraphNode*>(from[i]));
      GraphNode* second = graph->find(reinterpret_cast<const GraphNode*>(to[i]));
      if (first == nullptr || second == nullptr || first == second) return cudaErrorInvalidValue;
      if (std::ranges::find(second->after, first) != second->after.end()) {
        return cudaErrorInvalidValue;
      }
      second->after.push_back(first);
    }
    return cudaSuccess;
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    const GraphNode* own = emu::find_node(runtime, node);
    if (own == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = own->type;
    return cudaSuccess;
  });
}

}  // extern "C"
