#include "watch/metrics.hpp"

namespace emu {

const std::vector<Metric>& metrics() {
  // In ncu's order, which is the alphabet's.
  static const auto* const all = new std::vector<Metric>{
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "",
       &Counters::shared_load_conflicts},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "",
       &Counters::shared_store_conflicts},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "",
       &Counters::shared_load_wavefronts},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "",
       &Counters::shared_store_wavefronts},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", &Counters::global_load_requests},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", &Counters::global_store_requests},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", &Counters::global_load_sectors},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", &Counters::global_store_sectors},
      {"source__branches.sum", "", &Counters::branches},
      {"source__diverging_branches.sum", "", &Counters::diverging_branches},
      {"source__mergeable_shared_loads.sum", "", &Counters::mergeable_shared_loads},
      {"source__thread_instructions.sum", "", &Counters::thread_instructions},
      {"source__warp_instructions.sum", "inst", &Counters::warp_instructions},
  };
  return *all;
}

}  // namespace emu
