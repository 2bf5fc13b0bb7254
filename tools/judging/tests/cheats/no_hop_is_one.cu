// judge: chapter00/3
// rejected: wrong: hops 0
// Always hops once.
__global__ void chase(const unsigned* next, unsigned* last, unsigned hops, unsigned n) {
  if (threadIdx.x > 0) return;
  unsigned at = 0, hop = 0;
  do at = next[at];
  while (++hop < hops);
  *last = at;
}
