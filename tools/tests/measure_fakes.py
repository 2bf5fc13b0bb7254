"""Programs that stand in for a chapter's, nvidia-smi, ncu and compute-sanitizer.

They are shell scripts, because a test calls dozens of them. The environment steers them:

- FAKE_LOG        a file that gets a line for every call
- FAKE_FAIL       "TEXT=STATUS": a chapter's call whose arguments hold TEXT ends with STATUS
- FAKE_FULL       "TEXT=FOLDER": such a call fills FOLDER, which has to be a small disk
- FAKE_SLEEP      seconds that a chapter's run takes
- FAKE_TWICE      variants that launch two kernels
- FAKE_WRONG      a variant whose result is wrong
- FAKE_NCU        "refused", "broken", "torn", "lacking", "stopped", or "alone": several variants
                  are too many for it
- FAKE_FOUND      "racecheck/old_form=3 …": what the sanitizers find
- FAKE_SANITIZER  "unsupported" or "slow"

What a chapter's program records lies beside it, written by `install_chapter`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_HEAD = """#!/bin/sh
echo "${0##*/} $*" >> "$FAKE_LOG"
option() {  # the value that follows $1 among the arguments
  name=$1; shift
  while [ $# -gt 1 ]; do [ "$1" = "$name" ] && echo "$2"; shift; done
}
variants() {  # all that follow --variant
  while [ $# -gt 0 ] && [ "$1" != --variant ]; do shift; done
  [ $# = 0 ] || shift
  while [ $# -gt 0 ] && [ "${1#--}" = "$1" ]; do printf '%s ' "$1"; shift; done
}
several=$(variants "$@")
variant=${several%% *}
"""

_CHAPTER = (
    _HEAD
    + """
chapter=${0##*/}
if [ -n "$FAKE_FAIL" ]; then
  case "$*" in
    *"${FAKE_FAIL%=*}"*) echo "$chapter: this is the reason" >&2; exit "${FAKE_FAIL##*=}";;
  esac
fi
case "$*" in
  *--list*) kind=list;;
  *--once*)
    block=$(option --block "$@")
    for variant in $several; do
      case "$variant $block" in
        "picky 128" | "single 256")
          echo "$chapter: --block $block: $variant takes another" >&2
          exit 2;;
      esac
    done
    [ -z "$FAKE_SLEEP" ] || sleep "$FAKE_SLEEP"
    for variant in $several; do
      [ -z "$NCU_SEES" ] || echo "$variant unroll" >> "$NCU_SEES"
      case "$FAKE_TWICE" in
        *"$variant"*) [ -z "$NCU_SEES" ] || echo "$variant finish" >> "$NCU_SEES";;
      esac
    done
    case " $several" in
      *" ${FAKE_WRONG:-none} "*) echo "$chapter: WRONG RESULT" >&2; exit 1;;
    esac
    echo "sum agrees"
    exit 0;;
  *"--sweep all"*) kind=sweep-all;;
  *"--sweep rest"*) kind=sweep-rest;;
  *) kind=default;;
esac
[ "$kind" = list ] || [ -z "$FAKE_SLEEP" ] || sleep "$FAKE_SLEEP"
printf 'Fake GPU | %s\\nthe table\\n' "$chapter"
cp "$0.$kind.json" "$(option --json "$@")"
if [ -n "$FAKE_FULL" ]; then
  case "$*" in
    *"${FAKE_FULL%=*}"*)
      ln "$(option --json "$@")" "${FAKE_FULL##*=}/held" # whose place is then not free again
      cat /dev/zero >"${FAKE_FULL##*=}/fill" 2>/dev/null;;
  esac
fi
exit 0
"""
)

NVIDIA_SMI = """#!/bin/sh
echo "nvidia-smi" >> "$FAKE_LOG"
echo "Fake GPU, 1980, 3201, [N/A], 41"
"""

NCU = (
    _HEAD
    + """
if [ "$1" = --version ]; then
  echo "NVIDIA (R) Nsight Compute Command Line Profiler"
  echo "Version 2025.3.1.0 (build 36398880) (public-release)"
  exit 0
fi
metrics=$(option --metrics "$@")
while [ "$1" != "$metrics" ]; do shift; done
shift
echo "==PROF== Connected to process 42 ($1)"
case "$FAKE_NCU ${several#* }" in
  refused*)
    echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU"
    exit 1;;
  unknown*)
    for name in branch_resolving misc; do
      case "$metrics" in
        *"stalled_${name}_per"*)
          echo "==ERROR== Failed to find metric" \
            "smsp__average_warps_issue_stalled_${name}_per_issue_active.ratio."
          exit 1;;
      esac
    done;;
  broken*|"alone "?*)
    echo "==ERROR== Failed to initialize the profiler: LibraryNotLoaded"
    exit 1;;
esac
NCU_SEES=$(mktemp); export NCU_SEES
trap 'rm -f "$NCU_SEES"' EXIT
"$@"
status=$?
echo "==PROF== Disconnected from process 42"
if ! [ -s "$NCU_SEES" ] ; then
  echo "==WARNING== No kernels were profiled."
  exit $status
fi
printf '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
printf '"Block Size","Grid Size","Device","CC","%s"\\n' "$(echo "$metrics" | sed 's/,/","/g')"
printf '"","","","","","","","","","",""%s\\n' "$(echo ",$metrics" | sed 's/,[^,]*/,"byte"/g')"
while read -r variant kernel; do
  if [ "$FAKE_NCU" = stopped ] && [ "$variant" = old_form ]; then
    printf '"0","42","a program","127.0.0.1","old_form(int *)","1","7",'
    printf '"(0, 0, 0)","(0, 0, 0)","0","9.0"'
    echo ",$metrics" | sed 's|,[^,]*|,"n/a"|g'
    continue
  fi
  printf '"0","42","a program","127.0.0.1","void chapter01::%s' "$kernel"
  printf '<(unsigned int)4>(const int *, int *, unsigned long)","1","7",'
  printf '"(256, 1, 1)","(65536, 1, 1)","0","9.0"'
  # Big numbers come with commas. The last metric but one is 0, the last one may be missing.
  echo ",$metrics" | sed 's/,[^,]*,[^,]*$//; s/,[^,]*/,"67,108,864"/g' | tr -d '\\n'
  case "$FAKE_NCU" in
    torn) echo ',"0"';;
    lacking) echo ',"0","n/a"';;
    *) echo ',"0","'${#variant}'"';;  # of each variant another number
  esac
done < "$NCU_SEES"
exit $status
"""
)

COMPUTE_SANITIZER = (
    _HEAD
    + """
if [ "$1" = --version ]; then
  echo "NVIDIA (R) Compute Sanitizer"
  echo "Version 2025.3.1"
  exit 0
fi
echo "========= COMPUTE-SANITIZER"
case "$FAKE_SANITIZER" in
  slow) exec sleep "3647.$FAKE_WHO";;  # a name that no other test's has
  unsupported)
    echo "========= Error: Device not supported."
    echo "========= ERROR SUMMARY: 0 errors"
    exit 0;;
esac
tool=$(option --tool "$@")
while [ "$1" != 4 ]; do shift; done
shift
"$@"
status=$?
if [ $status != 0 ]; then
  echo "========= Target application returned an error"
  echo "========= ERROR SUMMARY: 0 errors"
  echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
  exit $status
fi
count=0
for found in ${FAKE_FOUND:-racecheck/old_form=1037}; do
  for each in $several; do
    [ "${found%=*}" = "$tool/$each" ] && count=$((count + ${found#*=}))
  done
done
s=s; [ "$count" = 1 ] && s=
if [ "$tool" = racecheck ]; then
  if [ "$count" != 0 ]; then
    echo "========= Warning: Race reported between Read access at old_form(int *)+0x1b0 in" \
      "/home/reader/a/legacy.cuh:34"
    echo "=========     and Write access at old_form(int *)+0x1c0 in /home/a/legacy.cuh:35"
  fi
  echo "========= RACECHECK SUMMARY: $count hazard$s displayed (0 errors, $count warning$s)"
  exit 0
fi
if [ "$count" != 0 ]; then
  for _ in 1 2; do
    echo "========= Invalid __global__ read of size 4 bytes"
    echo "=========     at old_form(int *)+0x90 in legacy.cuh:12"
  done
fi
echo "========= ERROR SUMMARY: $count error$s"
[ "$count" -le 100 ] || echo "========= ERROR SUMMARY: $((count - 100)) errors were not printed."
[ "$count" = 0 ] || exit 4
"""
)

#: (n, block) of each kind of timed run.
SHAPES = {
    "default": [(2**24, 256)],
    "sweep-rest": [(2**10, 256), (2**28, 128), (2**28, 256)],
    "sweep-all": [(2**24, 256), (2**10, 256), (2**28, 128), (2**28, 256)],
}


def install(path: Path, text: str) -> None:
    """Writes a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def install_chapter(
    path: Path, record: dict[str, Any] | None = None, run: dict[str, Any] | None = None
) -> None:
    """Writes a chapter's program; *record* and *run* are laid over what it records."""
    install(path, _CHAPTER)
    chapter = path.name
    variants = [
        _variant(chapter, "plain"),
        _variant(chapter, "picky", multiple_of=256) | {"params": {"stride": 2}},
        _variant(chapter, "single", high=1),
        _variant(chapter, "old_form") | {"legacy": True, "findings": ["racecheck"]},
    ]
    listed = {"schema": 3, "chapter": chapter, "default_block": 256, "variants": variants}
    path.with_name(f"{chapter}.list.json").write_text(json.dumps(listed))
    for kind, shapes in SHAPES.items():
        runs = [_run(v, n, block) | (run or {}) for v in variants[:2] for n, block in shapes]
        text = json.dumps(_record(chapter, runs) | (record or {}))
        path.with_name(f"{chapter}.{kind}.json").write_text(text)


def _variant(chapter: str, name: str, *, high: int = 1024, multiple_of: int = 1) -> dict[str, Any]:
    block = min(256, high)
    counted = [(2**24, block), (2**20, block), (2**24, min(128, high))]
    return {
        **{"name": name, "from": chapter, "region": f"{chapter[:9]}-{name.replace('_', '-')}"},
        **{
            "legacy": False,
            "findings": [],
            "params": {},
            "counters": "exact",
            "compared": True,
            "profiled": True,
        },
        "blocks": {"low": 1, "high": high, "powers_of_two": False, "multiple_of": multiple_of},
        "axes": [{"name": "n", "values": [2**10, 2**24]}, {"name": "block", "values": [128, 256]}],
        "counted": [{"n": n, "block": each} for n, each in dict.fromkeys(counted)],
        "checked": {"n": 1_048_573, "block": block},
    }


def _run(variant: dict[str, Any], n: int, block: int) -> dict[str, Any]:
    us = round(1.5 + n / 2**20 + block / 1024, 3)
    return {
        "variant": variant["name"],
        **{key: variant[key] for key in ("from", "region", "legacy", "params")},
        **{"n": n, "block": block, "repeat": 0, "grid": n // block, "shared_bytes": 0},
        **{"registers": 16, "local_bytes": 0, "bytes_read": 4 * n, "bytes_written": 0},
        **{"samples_us": [us] * 6, "blocks_per_sm": 8},
        **{"stopped_by": "interval", "cache": "cold", "clock": "events"},
        **{"verified": True, "kernel_hash": None},
    }


def _record(chapter: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    device = {
        **{"name": "Fake GPU", "compute_capability": "9.0", "sm_count": 2, "ecc": True},
        **{"max_threads_per_sm": 2048, "l2_bytes": 1, "global_bytes": 1, "shared_per_block": 1},
        **{"shared_per_sm": 1, "sm_clock_khz": 1, "memory_clock_khz": 1, "memory_bus_bits": 1},
    }
    return {
        **{"schema": 3, "chapter": chapter, "commands": [["/somewhere/run"]], "device": device},
        **{"driver": "13.0", "toolkit": "13.0.88", "host_compiler": "GNU 13", "flags": "-O3"},
        **{"architectures": "90-real", "seed": 2018, "cache": "cold", "source": None},
        **{"date": "2000-01-01T00:00:00Z", "clocks": None, "runs": runs},
    }
