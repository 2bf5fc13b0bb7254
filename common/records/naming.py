"""How sets, runs and counters are named, in messages and on pages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

REFERENCE = "nvidia-h200"
#: Further cards' committed sets: what a page says must hold there too, or the page says otherwise.
#: Several cards in one machine have what is about several GPUs, and nothing else. Their first set
#: tells that.
SECOND = ("nvidia-h100", "nvidia-h200-pair", "nvidia-h100-pair", "nvidia-h200-four")
LOCAL = "local"
EMBEDDED = "embedded"
DEFAULT_N = 2**24
DEFAULT_BLOCK = 256

#: What warps wait for, in ncu's words: cycles that they wait, per instruction issued.
#: ``selected`` is the cycle in which a warp issues.
STALLS = {
    f"stall_{reason}": f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
    for reason in (
        *("long_scoreboard", "short_scoreboard", "barrier", "membar", "wait", "not_selected"),
        *("mio_throttle", "lg_throttle", "tex_throttle", "math_pipe_throttle", "dispatch_stall"),
        *("no_instruction", "branch_resolving", "imc_miss", "drain", "sleeping", "misc"),
        "selected",
    )
}

#: Short names for NVIDIA's metrics, as the guide's counter role takes them.
COUNTER_ALIASES = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "global_reduction_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "global_reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "shared_atomic_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "shared_atomic_conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"),
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "dram_throughput_pct": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "instructions": "smsp__inst_executed.sum",
    "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum",
    "uniform_branches_pct": "smsp__sass_average_branch_targets_threads_uniform.pct",
    "lanes_per_instruction": "smsp__average_thread_inst_executed_per_inst_executed.ratio",
    "lanes_not_predicated_off": (
        "smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio"
    ),
    "occupancy_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "shared_configured": "launch__shared_mem_config_size",
    "registers": "launch__registers_per_thread",
    **STALLS,
}


def size_text(n: int) -> str:
    """2^24 where n is a power of two from 2^10 on, else the plain number."""
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)


def run_name(run: Mapping[str, Any], chapter: str = "") -> str:
    """How messages name a run; it has to cope with runs that lack fields."""
    name = run.get("variant", run.get("probe", "a run with no name"))
    named = [chapter or str(run.get("chapter", "")), str(name)]
    parts = ["/".join(part for part in named if part)]
    parts += [f"{key}={run[key]}" for key in ("n", "block") if key in run]
    params = run.get("params")
    if isinstance(params, dict):
        parts += [f"{key}={value}" for key, value in sorted(params.items())]
    parts += [f"{key} {run[key]}" for key in ("repeat", "tool") if key in run]
    return " ".join(parts)


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name."""
    return _nearest(name, tuple(names))


@cache  # who looks whether a run is recorded asks often, and mostly in vain
def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    if near:
        return f"; near it: {', '.join(near)}"
    return f"; there are: {', '.join(known)}" if known else "; nothing is recorded there"
