#pragma once
void other_step(int* data);
void other_generic(int* data);

// Each unit has a copy of the variable: device code that was not compiled apart shares nothing.
static __device__ int calls;
template <class T>
static __global__ void generic(T* data) {
  if (threadIdx.x == 0) ++calls;
  __syncthreads();
  data[threadIdx.x] += calls;
}
