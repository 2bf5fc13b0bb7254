"""Builds the museum's exhibits and runs them, for `record` and for the test.

All are in one program, for CUB alone takes longer to compile than all the others: each exhibit's
main is a function of its name there. There is one program of the wrong forms and one of the right.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from common.records.museum import Recording, Run, digest, names
from tools.measuring.profilers import sanitizer_options, sanitizer_verdict

HERE = Path(__file__).resolve().parent
EMULATE = HERE.parents[2] / "emulate"
FORMS = {"wrong": (), "right": ("-DFIXED",)}
WARNINGS = ("-Xcompiler=-Wall,-Wextra",)
FOR_EMBEDDED = ("-g", "-cudart", "shared", "-arch=compute_90", "-code=compute_90")
CHECKS = "all,sum"
FOUND = 4
LIMIT_S = 60
ALL = "museum.cu"
#: What a text says of the one program or of one run, and not of the exhibit; and nvcc's remarks.
_OF_ALL = re.compile(
    rf" \(PTX line \d+\)|,? PTX line \d+(?= \()|, called from {ALL}:\d+|, 0x7ff\w+,|\nRemark: .*\n"
)


def built(nvcc: Path | str, form: str, folder: Path, *flags: str) -> tuple[Path, str]:
    """The program of a form, and what the compiler says of it."""
    exhibits = names(HERE)
    source, program = folder / ALL, folder / form
    lines = ["#include <cstring>"]
    for name in exhibits:
        lines += [f"#define main {name}", f'#include "{name}.cu"', "#undef main"]
    lines.append("int main(int, char** words) {")
    lines += [f'  if (std::strcmp(words[1], "{name}") == 0) return {name}();' for name in exhibits]
    source.write_text("\n".join([*lines, "  return 2;", "}", ""]), encoding="utf-8")
    options = ["-std=c++20", "-lineinfo", *WARNINGS, *FORMS[form], *flags]
    command = [nvcc, *options, f"-I{HERE}", "-o", program, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program, done.stderr


def warned(said: str, form: str) -> list[Run]:
    """What the compiler says of each exhibit; both of its passes say the same."""
    told: dict[str, dict[str, None]] = {name: {} for name in names(HERE)}
    for warning in re.split(r"(?m)^(?=\S*\.cuh?\S*: )", said):
        if match := re.match(r"\S*?(\w+)\.cu\b", warning):
            told[match[1]][_clean(warning)] = None
    return [Run(name, form, "nvcc", bool(texts), "\n".join(texts)) for name, texts in told.items()]


def run(program: Path, exhibit: str, *before: str | Path) -> subprocess.CompletedProcess[str]:
    """One exhibit, under the command *before* it. What hangs is ended, with status 124."""
    command = [*before, program, exhibit]
    environment = {**os.environ, "EMU_THREADS": "1"}  # blocks in the same order each time
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_S, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, f"not done after {LIMIT_S} s\n", "")


def ran(program: Path, exhibit: str, *before: str | Path) -> Run:
    done = run(program, exhibit, *before)
    return Run(exhibit, program.name, "run", done.returncode != 0, done.stdout.strip())


def checked(program: Path, exhibit: str) -> Run:
    """Under the embedded device's checks: the findings, or else what they say of a sum."""
    file = program.parent / "findings"
    done = run(program, exhibit, EMULATE, "--check", CHECKS, "--findings", file)
    said = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    faults = [each for each in said if each.get("fault", True)]
    assert done.returncode == (FOUND if faults else 0), f"{exhibit}: {done.stderr}"
    lines = []
    for each in faults or said:
        times = f" ({each['count']} times)" if each["count"] > 1 else ""
        kernel = [f"kernel {each['kernel']}"] if each["kernel"] else []
        lines.append(f"{each['check']}: {each['what']}{times}")
        lines += [f"    {detail}" for detail in [*kernel, *each["details"]]]
    return Run(exhibit, program.name, "check", bool(faults), _clean("\n".join(lines)))


def on_embedded(nvcc: Path | str, folder: Path) -> Recording:
    """What the compiler and the embedded device say of all exhibits."""
    runs: list[Run] = []
    for form in FORMS:
        program, told = built(nvcc, form, folder, *FOR_EMBEDDED)
        runs += warned(told, form)
        for exhibit in names(HERE):
            runs.append(ran(program, exhibit, EMULATE))
            runs.append(checked(program, exhibit))
    release = re.search(r"V([\d.]+)", output_of(nvcc, "--version"))
    assert release
    return Recording(f"nvcc {release[1]}", digest(HERE), tuple(runs))


def output_of(*command: Path | str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def sanitized(program: Path, exhibit: str, tool: str) -> Run:
    """Under a tool of compute-sanitizer; its word is none where it couldn't do its work."""
    done = run(program, exhibit, "compute-sanitizer", *sanitizer_options(tool))
    if done.returncode == 124:
        return Run(exhibit, program.name, tool, None, done.stdout.strip())
    said = done.stdout + done.stderr
    findings, messages = sanitizer_verdict(tool, said, done.returncode)
    lines = list(dict.fromkeys(re.findall(rf"{exhibit}\.cu:\d+", said)))[:4]
    text = "\n".join([*messages, *(f"    at {line}" for line in lines)])
    return Run(exhibit, program.name, tool, None if findings is None else findings > 0, text)


def _clean(text: str) -> str:
    return _OF_ALL.sub("", text.replace(f"{HERE}/", "")).strip()
