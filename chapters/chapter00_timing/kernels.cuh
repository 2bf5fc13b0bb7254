#pragma once

namespace chapter00 {

// begin empty-kernel
/// Does nothing: what is left is the cost of a launch.
__global__ void empty() {}
// end empty-kernel

// begin pointer-chase
/// Follows a chain through memory. Each load's address is the value of the load before it, so
/// nothing overlaps: the time of one hop is the latency of one load.
///
/// \param next  next[i] is the element to visit after element i
/// \param last  where the chain stood after `hops` hops
/// \pre launched with one thread
__global__ void chase(const unsigned* next, unsigned* last, unsigned hops) {
  unsigned at = 0;
  for (unsigned hop = 0; hop < hops; ++hop) at = next[at];
  *last = at;
}
// end pointer-chase

}  // namespace chapter00
