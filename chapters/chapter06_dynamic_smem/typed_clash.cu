// Part of no build: nvcc must refuse this. What it says is in typed_clash.txt, which a page shows.
#include "legacy.cuh"

template __global__ void chapter06::legacy::typed_clash<int>(const int*, int*, std::size_t);
template __global__ void chapter06::legacy::typed_clash<long long>(const int*, int*, std::size_t);
