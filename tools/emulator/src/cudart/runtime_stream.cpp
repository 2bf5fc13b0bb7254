// Streams and events. Every call here has done its work when it returns, so that they have little
// to do; but they are checked as on a device.
#include <algorithm>
#include <limits>

#include "cudart/runtime.hpp"

namespace {

using emu::api;
using emu::Event;
using emu::Needs;
using emu::Operations;
using emu::Runtime;
using emu::Stream;

constexpr int kHighestPriority = -5;
constexpr unsigned long long kFirstStream = 13;  // by the number that follows the default streams'

/// The default streams have no object: null, cudaStreamLegacy and cudaStreamPerThread.
bool known(Runtime& runtime, cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         runtime.streams.contains(reinterpret_cast<Stream*>(stream));
}

Event* find(Runtime& runtime, cudaEvent_t event) {
  const auto at = runtime.events.find(reinterpret_cast<Event*>(event));
  return at == runtime.events.end() ? nullptr : *at;
}

/// The frame of a call after which the host knows that a stream has done all.
cudaError_t on_stream(cudaStream_t stream, Needs needs) {
  return api(needs, [&](Runtime& runtime) {
    if (!known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (Operations* const order = runtime.operations()) {
      order->host_waits_for(runtime.line_of(stream));
    }
    return cudaSuccess;
  });
}

/// A stream calls a function of the host. What other threads make of that can't be seen: they may
/// wait for it, and so know what the stream has done.
void told_by(cudaStream_t stream) {
  api(Needs::kNothing, [&](Runtime& runtime) {
    Operations* const order = runtime.operations();
    if (order && !emu::graph_node_line()) order->host_waits_for(runtime.line_of(stream));
    return cudaSuccess;
  });
}

cudaError_t may_call_back(cudaStream_t stream, bool valid) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    return valid ? cudaSuccess : cudaErrorInvalidValue;
  });
}

/// The frame of a call after which the host knows that an event has come.
cudaError_t on_event(cudaEvent_t event, Needs needs) {
  return api(needs, [&](Runtime& runtime) {
    const Event* own = find(runtime, event);
    if (own == nullptr) return cudaErrorInvalidResourceHandle;
    if (Operations* const order = runtime.operations()) order->host_waits(own->at);
    return cudaSuccess;
  });
}

cudaError_t create(cudaStream_t* stream, unsigned flags, int priority) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
      return cudaErrorInvalidValue;
    }
    auto made =
        std::make_unique<Stream>(Stream{.flags = flags,
                                        .priority = std::clamp(priority, kHighestPriority, 0),
                                        .id = kFirstStream + runtime.streams_made++,
                                        .device = emu::current_device()});
    if (Operations* const order = runtime.operations()) {
      const bool blocks = (flags & unsigned{cudaStreamNonBlocking}) == 0;
      made->line = order->add_stream(
          "stream " + std::to_string(runtime.streams_made) +
              (made->device == 0 ? "" : " of device " + std::to_string(made->device)) +
              (blocks ? "" : " (non-blocking)"),
          blocks, runtime.default_line(made->device));
    }
    runtime.streams.insert(made.get());
    *stream = reinterpret_cast<cudaStream_t>(made.release());
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create(stream, 0, 0);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create(stream, flags, priority);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    auto* own = reinterpret_cast<Stream*>(stream);
    if (runtime.streams.erase(own) == 0) return cudaErrorInvalidResourceHandle;
    if (Operations* const order = runtime.operations()) order->remove_stream(own->line);
    delete own;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const auto no = emu::refuse_in_capture(stream, "cudaStreamSynchronize")) return *no;
  return on_stream(stream, Needs::kWaits);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const auto no = emu::refuse_in_capture(stream, "cudaStreamQuery")) return *no;
  return on_stream(stream, Needs::kDevice);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if ((flags & ~unsigned{cudaEventWaitExternal}) != 0) return cudaErrorInvalidValue;
    if (!known(runtime, stream) || find(runtime, event) == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    // Behind an event that was recorded in a capture a stream is captured too.
    for (const auto& capture : runtime.captures) {
      const auto at = capture->events.find(event);
      if (at == capture->events.end()) continue;
      const emu::Capture::Recorded& recorded = at->second;
      auto& source = capture->streams.at(recorded.stream);
      source.joined = std::max(source.joined, recorded.taken);
      auto& last = capture->streams[stream].last;
      last.insert(last.end(), recorded.last.begin(), recorded.last.end());
      return cudaSuccess;
    }
    if (Operations* const order = runtime.operations()) {
      order->wait(runtime.line_of(stream), find(runtime, event)->at);
    }
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (flags == nullptr) return cudaErrorInvalidValue;
    auto* own = reinterpret_cast<Stream*>(stream);
    *flags = runtime.streams.contains(own) ? own->flags : 0;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (priority == nullptr) return cudaErrorInvalidValue;
    auto* own = reinterpret_cast<Stream*>(stream);
    *priority = runtime.streams.contains(own) ? own->priority : 0;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long*, cudaGraph_t*, const cudaGraphNode_t**,
                                     const cudaGraphEdgeData**, std::size_t*) {
  return cudaStreamIsCapturing(stream, status);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (id == nullptr) return cudaErrorInvalidValue;
    auto* own = reinterpret_cast<Stream*>(stream);
    *id = runtime.streams.contains(own) ? own->id : stream == cudaStreamPerThread ? 2 : 1;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = static_cast<int>(runtime.device_of(stream));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID which,
                                   const cudaStreamAttrValue* value) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (value == nullptr) return cudaErrorInvalidValue;
    auto* own = reinterpret_cast<Stream*>(stream);
    if (runtime.streams.contains(own)) own->attributes[which] = *value;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID which,
                                   cudaStreamAttrValue* value) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!known(runtime, stream)) return cudaErrorInvalidResourceHandle;
    if (value == nullptr) return cudaErrorInvalidValue;
    auto* own = reinterpret_cast<Stream*>(stream);
    *value = {};
    if (!runtime.streams.contains(own)) return cudaSuccess;
    if (which == cudaStreamAttributeSynchronizationPolicy) {
      value->syncPolicy = static_cast<cudaSynchronizationPolicy>(-1);  // none that has a name
    }
    if (which == cudaStreamAttributePriority) value->priority = own->priority;
    if (const auto at = own->attributes.find(which); at != own->attributes.end()) {
      *value = at->second;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (!known(runtime, to) || !known(runtime, from)) return cudaErrorInvalidResourceHandle;
    auto* target = reinterpret_cast<Stream*>(to);
    auto* source = reinterpret_cast<Stream*>(from);
    if (runtime.streams.contains(target) && runtime.streams.contains(source)) {
      target->attributes = source->attributes;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const cudaError_t status = may_call_back(stream, function != nullptr);
  if (status == cudaSuccess) {
    const auto taken = emu::capture(stream, cudaGraphNodeTypeHost,
                                    [=] { return cudaLaunchHostFunc(nullptr, function, data); });
    if (taken) return *taken;
  }
  if (status == cudaSuccess) told_by(stream);
  if (status == cudaSuccess) function(data);  // outside the frame: it may take its time
  return status;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned flags) {
  const cudaError_t status = may_call_back(stream, function != nullptr && flags == 0);
  if (status == cudaSuccess) told_by(stream);
  if (status == cudaSuccess) function(stream, cudaSuccess, data);
  return status;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (event == nullptr) return cudaErrorInvalidValue;
    constexpr unsigned kAll =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    const bool shared = (flags & unsigned{cudaEventInterprocess}) != 0;
    if ((flags & ~kAll) != 0 || (shared && (flags & unsigned{cudaEventDisableTiming}) == 0)) {
      return cudaErrorInvalidValue;
    }
    auto made = std::make_unique<Event>(Event{
        .timed = (flags & unsigned{cudaEventDisableTiming}) == 0, .device = emu::current_device()});
    runtime.events.insert(made.get());
    *event = reinterpret_cast<cudaEvent_t>(made.release());
    return cudaSuccess;
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    Event* own = find(runtime, event);
    if (own == nullptr) return cudaErrorInvalidResourceHandle;
    runtime.events.erase(own);
    delete own;
    return cudaSuccess;
  });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return api(Needs::kNothing, [&](Runtime& runtime) {  // like a launch, it doesn't wait
    if (runtime.broken != cudaSuccess && runtime.fault_told) return runtime.broken;
    Event* own = find(runtime, event);
    if (own == nullptr || !known(runtime, stream) || own->device != runtime.device_of(stream)) {
      return cudaErrorInvalidResourceHandle;
    }
    if ((flags & ~unsigned{cudaEventRecordExternal}) != 0) return cudaErrorInvalidValue;
    if (flags != 0) return cudaErrorIllegalState;  // it is for a stream that is captured
    for (const auto& capture : runtime.captures) {
      capture->events.erase(event);
      const auto at = capture->streams.find(stream);
      if (at == capture->streams.end()) continue;
      capture->events[event] = {stream, at->second.taken, at->second.last};
      return cudaSuccess;
    }
    own->recorded = true;
    if (Operations* const order = runtime.operations()) {
      own->at = order->record(runtime.line_of(stream));
    }
    return cudaSuccess;
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return on_event(event, Needs::kWaits);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return on_event(event, Needs::kDevice);
}

/// There is no time to report: how long the emulation took says nothing of a GPU, and a program
/// would print it as one's. So: not a number, and a word about it.
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return api(Needs::kDevice, [&](Runtime& runtime) {
    if (ms == nullptr) return cudaErrorInvalidValue;
    const Event* a = find(runtime, start);
    const Event* b = find(runtime, end);
    for (const Event* e : {a, b}) {
      if (e == nullptr || !e->recorded || !e->timed || e->device != a->device) {
        return cudaErrorInvalidResourceHandle;
      }
      if (Operations* const order = runtime.operations()) order->host_waits(e->at);
    }
    static bool told = false;
    if (!told) emu::say("it has no times: cudaEventElapsedTime gives NaN");
    told = true;
    *ms = std::numeric_limits<float>::quiet_NaN();
    return cudaSuccess;
  });
}

}  // extern "C"
