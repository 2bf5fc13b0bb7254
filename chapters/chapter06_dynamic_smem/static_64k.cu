// Part of no build: nvcc must refuse this. What it says is in static_64k.txt, which a page shows.
__global__ void static_64k(int* out) {
  __shared__ int tile[16384];
  tile[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
