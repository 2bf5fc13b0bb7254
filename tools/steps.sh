# shellcheck shell=bash disable=SC2034  # the variables are for those who source this
# Sourced by the tools: where things are, and steps that print one line each with their time.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/log
venv=$root/.venv
tree=$root/build/tools # the tools' own CMake tree; `build` itself is left to the reader

# Everything that the tools run reads and writes the same way everywhere.
export LC_ALL=C.UTF-8 PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1

# What one build has compiled serves the others: a tree made anew, another clone, and the copies of the
# checkout that tests build. ccache comes with set-up for tests, and keeps it where it keeps all else,
# or in the checkout if it can't. Paths count from the checkout, wherever it lies, and the files that a
# compiler says it has read are compared whole: ccache's preprocessed text has the host's side of a
# kernel alone, so that an edit under __CUDA_ARCH__ would go unseen.
use_ccache() {
  local kept
  if ! command -v ccache >/dev/null; then return; fi
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  kept=$(ccache --get-config cache_dir 2>/dev/null) || true
  if ! { mkdir -p "$kept" && [[ -w $kept ]]; } 2>/dev/null; then
    export CCACHE_DIR=$root/build/ccache
  fi
}
use_ccache
export CCACHE_BASEDIR=$root CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1

# usage: the comment at the head of the script that runs, as --help prints it.
usage() {
  printf '%s\n' "$(sed -n '/^# shellcheck/d; 2,/^[^#]/s/^# \?//p' "$0")" 2>/dev/null && return
  echo "tools/${0##*/}: the output can't be written" >&2
  exit 2
}

# wrong REASON: what no tool can take.
wrong() {
  local LC_ALL=C tool=tools/${0##*/} # what a terminal obeys, or turns text by, isn't printed in it
  printf '%s: %.200s; %s --help says what it takes\n' "$tool" "${1//[^[:print:]]/?}" "$tool" >&2
  exit 2
}

# as_root COMMAND: how a person runs that with an administrator's rights on this machine.
as_root() {
  if ((EUID == 0)); then
    echo "$1"
  elif command -v sudo >/dev/null; then
    echo "sudo sh -c '$1'"
  else
    echo "su -c '$1'"
  fi
}

# stop REASON FIX [LOG]: why this can't go on, and what to do. What runs beside comes to its end first.
stop() {
  if [[ $aside ]]; then finish || true; fi
  printf 'stopped: %s\n    fix: %s\n' "$1" "$2" >&2
  if [[ -n ${3:-} ]]; then printf '    log: %s\n' "$3" >&2; fi
  exit 1
}

ticker=
tick() { # a sign of life on a terminal, while a step runs
  local start=$SECONDS
  while sleep 1; do printf '\r...  %-22s %5d s ' "$1" $((SECONDS - start)); done
}
end_tick() {
  if [[ -n $ticker ]]; then
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    printf '\r\033[K'
  fi
  ticker=
}
trap end_tick EXIT

# alone: from here on this tool has build/ to itself; where another is at work there, it waits.
exec {lock}</dev/null
alone() {
  local file=$root/build/lock
  # A place that can't be written to is for set-up to tell of.
  if ! { mkdir -p "$root/build" && exec {lock}>>"$file"; } 2>/dev/null; then return; fi
  if ! flock -n "$lock"; then
    echo "waiting for $(<"$file"), which is at work in this checkout"
    set -m
    flock "$lock" </dev/null &
    job=$!
    set +m
    wait "$job"
    job=
  fi
  echo "tools/${0##*/} (process $$)" >"$file"
}

# attended COMMAND...: runs it, with all that it starts as one group, which ends with this script.
job=
attended() {
  local status=0
  set -m # a group of its own
  { "$@" || exit "$?"; } </dev/null {lock}>&- &
  job=$!
  set +m
  wait "$job" || status=$?
  job=
  return "$status"
}
aside=
interrupted() { # SIGNAL NUMBER
  trap - INT TERM HUP # asked again, it ends at once
  if [[ $aside ]]; then
    kill "-$1" "$aside" 2>/dev/null || true
    wait "$aside" || true
  fi
  if [[ $job ]]; then
    kill "-$1" -- "-$job" 2>/dev/null || true
    wait "$job" || true
    kill -TERM -- "-$job" 2>/dev/null || true # what a shell has started aside ignores INT
  fi
  exit $((128 + $2))
}
heed() {
  trap 'interrupted INT 2' INT
  trap 'interrupted TERM 15' TERM
  trap 'interrupted HUP 1' HUP
}
heed

# step NAME COMMAND...: runs it with its output in build/log/NAME.log, and prints one line.
# On failure the end of the log is shown, and the command's status returned.
step() {
  local name=$1 status=0 begin=$EPOCHREALTIME
  local log=$logs/${name// /-}.log
  shift
  if [[ -t 1 ]]; then
    tick "$name" {lock}>&- &
    ticker=$!
  fi
  attended "$@" >"$log" 2>&1 || status=$?
  end_tick
  local micros=$((${EPOCHREALTIME/./} - ${begin/./}))
  local time
  time=$(printf '%d.%d s' $((micros / 1000000)) $((micros / 100000 % 10)))
  if ((status == 0)); then
    printf 'ok   %-22s %9s\n' "$name" "$time"
  else
    printf 'FAIL %-22s %9s\n' "$name" "$time"
    # A compiler's first error says what is wrong; its last lines may be all about what follows.
    { grep -m 2 -E '(^|[ :])error:? ' "$log" || true; } | sed 's/^/     | /'
    tail -n 25 "$log" | sed 's/^/     | /'
    if grep -q 'No space left on device' "$log"; then echo "     fix: free some space on the disk"; fi
    printf '     log: %s\n' "$log"
  fi
  return "$status"
}

# begin NAME COMMAND...: a step beside those that follow, one at most. `finish` waits for it, prints
# its line, and returns its status.
begin() {
  local said=$logs/${1// /-}.said
  set -m
  {
    aside='' job='' # they are this script's
    heed
    step "$@"
  } </dev/null >"$said" 2>&1 {lock}>&- &
  aside=$!
  set +m
  aside_said=$said
}
finish() {
  local status=0
  wait "$aside" || status=$?
  aside=
  cat "$aside_said"
  rm "$aside_said"
  return "$status"
}

# already NAME: a step with nothing to do.
already() { printf 'ok   %-22s %9s\n' "$1" there; }

# ours: is build/tools of this place, with a cache that CMake can read and compilers that are still
# there?
ours() {
  local cache=$tree/CMakeCache.txt home nvcc launcher
  [[ -f $cache ]] || return
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[^=]*=//p' "$cache")
  nvcc=$(sed -n 's/^CMAKE_CUDA_COMPILER:[^=]*=//p' "$cache")
  launcher=$(sed -n 's/^CMAKE_CXX_COMPILER_LAUNCHER:[^=]*=//p' "$cache")
  [[ $home == "$root" && -x $nvcc ]] && command -v "${launcher:-true}" >/dev/null &&
    cmake -N -L "$tree" >/dev/null 2>&1
}

# configured: is it ours, and whole? What a full disk or a lost machine has cut short lacks its end.
configured() {
  ours && [[ $(tail -n 1 "$tree/build.ninja" 2>/dev/null) == "default all" ]] &&
    ninja -C "$tree" -t query all >/dev/null 2>&1
}

# configure [OPTION...]: prepares build/tools; what is there from elsewhere goes.
configure() {
  if ! ours; then rm -rf "$tree"; fi
  cmake -S "$root" -B "$tree" -G Ninja -DBOOK_OUT="$root/build" "$@"
}

# build TARGET...: builds them. Recorded counts and texts are in the guide while they are of these very
# programs; others it runs on the embedded device, which has to be there by then.
build() {
  local differing
  if [[ " $* " =~ \ (guide|runs)\  ]]; then
    differing=$(cd "$root" && "$venv/bin/python" -m tools.measuring.embedded "$tree") || return
    if [[ $differing ]]; then cmake --build "$tree" --target embedded_device || return; fi
  fi
  cmake --build "$tree" --target "$@"
}
