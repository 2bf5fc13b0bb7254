// What a program built with nvcc --default-stream per-thread calls: the default stream is the
// thread's own. Calls for which that makes no difference are in per_thread.ld.
#include "cudart/runtime.hpp"

namespace {

cudaStream_t own(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

}  // namespace

// CUDA's headers call some of these old.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
extern "C" {

#define OF_STREAM(name, parameters, arguments) \
  cudaError_t name##_ptsz parameters {         \
    return name arguments;                     \
  }
// Of a call that names no stream.
#define OF_THREAD(name, parameters, arguments) \
  cudaError_t name##_ptds parameters {         \
    const emu::DefaultOfThread here;           \
    return name arguments;                     \
  }

OF_STREAM(__cudaLaunchKernel,
          (cudaKernel_t k, dim3 g, dim3 b, void** a, std::size_t n, cudaStream_t s),
          (k, g, b, a, n, own(s)))
OF_STREAM(cudaLaunchKernel,
          (const void* k, dim3 g, dim3 b, void** a, std::size_t n, cudaStream_t s),
          (k, g, b, a, n, own(s)))
OF_STREAM(cudaLaunchCooperativeKernel,
          (const void* k, dim3 g, dim3 b, void** a, std::size_t n, cudaStream_t s),
          (k, g, b, a, n, own(s)))
OF_STREAM(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void* d), (own(s), f, d))
OF_STREAM(cudaStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t f, void* d, unsigned n),
          (own(s), f, d, n))
OF_STREAM(cudaStreamSynchronize, (cudaStream_t s), (own(s)))
OF_STREAM(cudaStreamQuery, (cudaStream_t s), (own(s)))
OF_STREAM(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned n), (own(s), e, n))
OF_STREAM(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, own(s)))
OF_STREAM(cudaEventRecordWithFlags, (cudaEvent_t e, cudaStream_t s, unsigned n), (e, own(s), n))
OF_STREAM(cudaStreamBeginCapture, (cudaStream_t s, cudaStreamCaptureMode m), (own(s), m))
OF_STREAM(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t* g), (own(s), g))
OF_STREAM(cudaStreamIsCapturing, (cudaStream_t s, cudaStreamCaptureStatus* c), (own(s), c))
OF_STREAM(cudaGraphLaunch, (cudaGraphExec_t g, cudaStream_t s), (g, own(s)))
OF_STREAM(cudaMallocAsync, (void** p, std::size_t n, cudaStream_t s), (p, n, own(s)))
OF_STREAM(cudaMallocFromPoolAsync, (void** p, std::size_t n, cudaMemPool_t m, cudaStream_t s),
          (p, n, m, own(s)))
OF_STREAM(cudaFreeAsync, (void* p, cudaStream_t s), (p, own(s)))
OF_STREAM(cudaMemcpyAsync,
          (void* to, const void* from, std::size_t n, cudaMemcpyKind k, cudaStream_t s),
          (to, from, n, k, own(s)))
OF_STREAM(cudaMemcpy2DAsync,
          (void* to, std::size_t p, const void* from, std::size_t q, std::size_t w, std::size_t h,
           cudaMemcpyKind k, cudaStream_t s),
          (to, p, from, q, w, h, k, own(s)))
OF_STREAM(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* p, cudaStream_t s), (p, own(s)))
OF_STREAM(cudaMemcpy2DToArrayAsync,
          (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t p,
           std::size_t w, std::size_t h, cudaMemcpyKind k, cudaStream_t s),
          (to, x, y, from, p, w, h, k, own(s)))
OF_STREAM(cudaMemcpy2DFromArrayAsync,
          (void* to, std::size_t p, cudaArray_const_t from, std::size_t x, std::size_t y,
           std::size_t w, std::size_t h, cudaMemcpyKind k, cudaStream_t s),
          (to, p, from, x, y, w, h, k, own(s)))
OF_STREAM(cudaMemcpyToArrayAsync,
          (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t n,
           cudaMemcpyKind k, cudaStream_t s),
          (to, x, y, from, n, k, own(s)))
OF_STREAM(cudaMemcpyFromArrayAsync,
          (void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t n,
           cudaMemcpyKind k, cudaStream_t s),
          (to, from, x, y, n, k, own(s)))
OF_STREAM(cudaMemcpyToSymbolAsync,
          (const void* to, const void* from, std::size_t n, std::size_t o, cudaMemcpyKind k,
           cudaStream_t s),
          (to, from, n, o, k, own(s)))
OF_STREAM(cudaMemcpyFromSymbolAsync,
          (void* to, const void* from, std::size_t n, std::size_t o, cudaMemcpyKind k,
           cudaStream_t s),
          (to, from, n, o, k, own(s)))
OF_STREAM(cudaMemsetAsync, (void* to, int v, std::size_t n, cudaStream_t s), (to, v, n, own(s)))
OF_STREAM(cudaMemset2DAsync,
          (void* to, std::size_t p, int v, std::size_t w, std::size_t h, cudaStream_t s),
          (to, p, v, w, h, own(s)))
OF_STREAM(cudaMemset3DAsync, (cudaPitchedPtr to, int v, cudaExtent e, cudaStream_t s),
          (to, v, e, own(s)))

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* stub,
                                     void** arguments) {
  if (config == nullptr) return cudaLaunchKernelExC(config, stub, arguments);
  cudaLaunchConfig_t ours = *config;
  ours.stream = own(ours.stream);
  return cudaLaunchKernelExC(&ours, stub, arguments);
}

OF_THREAD(cudaMemcpy, (void* to, const void* from, std::size_t n, cudaMemcpyKind k),
          (to, from, n, k))
OF_THREAD(cudaMemcpy2D,
          (void* to, std::size_t p, const void* from, std::size_t q, std::size_t w, std::size_t h,
           cudaMemcpyKind k),
          (to, p, from, q, w, h, k))
OF_THREAD(cudaMemcpy3D, (const cudaMemcpy3DParms* p), (p))
OF_THREAD(cudaMemcpy2DToArray,
          (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t p,
           std::size_t w, std::size_t h, cudaMemcpyKind k),
          (to, x, y, from, p, w, h, k))
OF_THREAD(cudaMemcpy2DFromArray,
          (void* to, std::size_t p, cudaArray_const_t from, std::size_t x, std::size_t y,
           std::size_t w, std::size_t h, cudaMemcpyKind k),
          (to, p, from, x, y, w, h, k))
OF_THREAD(cudaMemcpy2DArrayToArray,
          (cudaArray_t to, std::size_t a, std::size_t b, cudaArray_const_t from, std::size_t x,
           std::size_t y, std::size_t w, std::size_t h, cudaMemcpyKind k),
          (to, a, b, from, x, y, w, h, k))
OF_THREAD(cudaMemcpyToArray,
          (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t n,
           cudaMemcpyKind k),
          (to, x, y, from, n, k))
OF_THREAD(cudaMemcpyFromArray,
          (void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t n,
           cudaMemcpyKind k),
          (to, from, x, y, n, k))
OF_THREAD(cudaMemcpyArrayToArray,
          (cudaArray_t to, std::size_t a, std::size_t b, cudaArray_const_t from, std::size_t x,
           std::size_t y, std::size_t n, cudaMemcpyKind k),
          (to, a, b, from, x, y, n, k))
OF_THREAD(cudaMemcpyToSymbol,
          (const void* to, const void* from, std::size_t n, std::size_t o, cudaMemcpyKind k),
          (to, from, n, o, k))
OF_THREAD(cudaMemcpyFromSymbol,
          (void* to, const void* from, std::size_t n, std::size_t o, cudaMemcpyKind k),
          (to, from, n, o, k))
OF_THREAD(cudaMemset, (void* to, int v, std::size_t n), (to, v, n))
OF_THREAD(cudaMemset2D, (void* to, std::size_t p, int v, std::size_t w, std::size_t h),
          (to, p, v, w, h))
OF_THREAD(cudaMemset3D, (cudaPitchedPtr to, int v, cudaExtent e), (to, v, e))

}  // extern "C"
#pragma GCC diagnostic pop
