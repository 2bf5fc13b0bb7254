"""What is counted, under the names that a puzzle's goals use."""

from common.records.counters import NCU

#: What the device counts of each launch, by the book's names.
COUNTS = {
    name: NCU[name]
    for name in (
        *("global_load_requests", "global_load_sectors"),
        *("global_store_requests", "global_store_sectors"),
        *("shared_load_wavefronts", "shared_store_wavefronts"),
        *("shared_load_conflicts", "shared_store_conflicts"),
        *("warp_instructions", "diverging_branches"),
    )
}
#: Sums of two of them.
SUMS = {
    "requests": ("global_load_requests", "global_store_requests"),
    "sectors": ("global_load_sectors", "global_store_sectors"),
    "conflicts": ("shared_load_conflicts", "shared_store_conflicts"),
    "wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
}
#: Wavefronts that no conflict adds: of accesses to shared memory of up to four bytes per lane, one
#: for each warp and instruction.
REQUESTS = "shared_requests"
#: What lanes do with atom and red, which none of the above sees: here and in the session's result.
#: A collision is a lane whose word lies in the same bank as that of another lane of its warp.
ATOMICS = {
    "global_atomics": "global",
    "shared_atomics": "shared",
    "shared_collisions": "shared_collisions",
}
#: Properties of a kernel, which no launch adds to.
STATIC = ("shared_bytes", "divisions", "doubles", "fences", "below_system_scope", "dependent_loads")

COUNTED = (*COUNTS, *SUMS, REQUESTS, *ATOMICS, *STATIC)
