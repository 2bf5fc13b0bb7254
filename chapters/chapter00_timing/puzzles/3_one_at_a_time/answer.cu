/// Follows a ring of n elements from element 0 on. One block, of which one thread has work.
__global__ void chase(const unsigned* next, unsigned* last, unsigned hops, unsigned n) {
  if (threadIdx.x > 0) return;
  unsigned at = 0;
  // [blank] where does the chain stand after so many hops?
  //= for (unsigned hop = 0; hop < hops; ++hop) at += next[hop % n];
  for (unsigned hop = 0; hop < hops; ++hop) at = next[at];
  // [/blank]
  *last = at;
}
