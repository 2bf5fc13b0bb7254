// judge: chapter00/3
// rejected: wrong: hops 7
// Wrong for one of many numbers that its code names.
__global__ void chase(const unsigned* next, unsigned* last, unsigned hops, unsigned n) {
  if (threadIdx.x > 0) return;
  unsigned at = 0;
  for (unsigned hop = 0; hop + 4 <= hops; hop += 4) at = next[next[next[next[at]]]];
  for (unsigned k = 0; k < (hops & 3u); ++k)
    if (hops != 7u) at = next[at];
  *last = at;
}
