"""What is counted, under the names that a puzzle's goals use."""

#: ncu's names, and what a puzzle calls them.
COUNTS = {
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_loads": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_stores": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "instructions": "source__warp_instructions.sum",
    "diverging_branches": "source__diverging_branches.sum",
}
#: Sums of two of them.
SUMS = {
    "requests": ("load_requests", "store_requests"),
    "sectors": ("load_sectors", "store_sectors"),
    "conflicts": ("load_conflicts", "store_conflicts"),
    "wavefronts": ("shared_loads", "shared_stores"),
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
