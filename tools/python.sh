# shellcheck shell=bash
# How a command that is written in Python starts. Sourced by tools/judge and the like.

# start TOOL PYTHON TEST LACK FOLDER [ARGUMENT...]: runs FOLDER in this process, or says what is LACKing
# where PYTHON fails TEST.
start() {
  local tool=$1 python=$2 test=$3 lack=$4 said
  shift 4
  # shellcheck disable=SC2064 # the name of now
  trap "printf '\n%s: stopped\n' '$tool' >&2; exit 130" INT
  if ! said=$("$python" -c "$test" 2>&1); then
    if ! pwd -P >/dev/null 2>&1; then
      echo "$tool: the folder that you are in is gone: go to another one" >&2
      exit 2
    fi
    if [[ $said == *"Fatal Python error"* ]]; then # its surroundings, whatever its version
      lack=$(grep -m 1 -o '^[A-Za-z]*Error: .*' <<<"$said") || lack="it says no more"
      if [[ ${PYTHONHOME:-} ]]; then lack="PYTHONHOME names a folder without a Python: unset it"; fi
      lack="Python doesn't start here: $lack"
    fi
    echo "$tool: $lack" >&2
    exit 77
  fi
  # -B: what a reader runs leaves nothing but what it is run for. A Ctrl-C waits until
  # tools/terminal.py can answer it: while Python itself starts, it would end in a traceback.
  exec env --block-signal=INT "$python" -B "$@"
}

# start_bare TOOL FOLDER [ARGUMENT...]: the same with the machine's own Python.
start_bare() {
  local tool=$1 here
  shift
  here="here is $(python3 --version 2>/dev/null)" || here="there is no python3 here"
  start "$tool" python3 'import sys; sys.exit(sys.version_info < (3, 11))' \
    "needs Python 3.11 or newer; $here" "$@"
}
