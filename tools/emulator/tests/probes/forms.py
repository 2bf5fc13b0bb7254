"""Which forms of instructions were compared with an H200: src/cudart/compared_forms.inc.

    python -m tools.emulator.tests.probes.forms     writes the list anew

A form is an opcode with all that is said behind points, as `ld.global.v4.u32`. It counts as
compared where it is in the PTX of a program that ran on an H200 with the same results as here: the
chapters' programs, which check their sums, or a probe whose answers or counts were recorded there.
So it says that nothing unlike hardware was seen of it, not that each of its values was tried.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tools.tests.built import BUILD, ROOT, nvcc

EMULATOR = ROOT / "tools/emulator"
LIST = EMULATOR / "src/cudart/compared_forms.inc"
#: With what was recorded of each on the card.
PROBES = {
    EMULATOR / "probes/probes.cu": EMULATOR / "probes/nvidia-h200.csv",
    EMULATOR / "tests/probes/symbols_and_masks.cu": (
        EMULATOR / "tests/probes/symbols_and_masks.h200.txt"
    ),
    **{
        EMULATOR / f"tests/probes/{name}.cu": EMULATOR / f"tests/probes/{name}.h200.txt"
        for name in ("matrices", "clusters", "textures", "surfaces")
    },
    EMULATOR / "tests/meeting_probe.cu": EMULATOR / "tests/meeting_h200.txt",
}
_INSTRUCTION = re.compile(r"(?:@!?[%\w$]+\s+)?([a-z][a-z0-9_]*(?:[.:]+\w+)*)(?=\s|$)")


def forms(ptx: str) -> set[str]:
    """Of all instructions of a text: what stands first in each statement of a body."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", "", ptx, flags=re.DOTALL)
    found = set()
    for body in re.findall(r"\)\s*(?:\.\w+[^{;]*)?\{(.*?)\n\}", text, flags=re.DOTALL):
        for statement in re.split(r"[;{}]|\b[\w$]+:\s", body):
            statement = re.sub(r"^(?:\s*\.(?:loc|pragma|file)\b[^\n]*\n)+", "", statement).strip()
            if match := _INSTRUCTION.match(statement):
                found.add(match[1])
    return found


def built(source: Path, folder: Path) -> Path:
    """Its program in a folder, where it may be already."""
    program = folder / source.stem
    options = ["-std=c++17", "-w", "-cudart", "shared", "-arch=compute_90", "-code=compute_90"]
    if not program.is_file():
        subprocess.run([nvcc(), *options, "-o", program, source], check=True)
    return program


def compared(folder: Path) -> set[str]:
    """Those of the chapters' programs in the build, and of the probes, which are built here."""
    chapters = sorted(path.name for path in (ROOT / "chapters").glob("chapter*"))
    recorded = {path.stem for path in (ROOT / "figures/data/nvidia-h200").glob("chapter*.json")}
    programs = [BUILD / "chapters" / name / name for name in chapters if name in recorded]
    for source, answers in PROBES.items():
        assert answers.is_file(), answers
        programs.append(built(source, folder))
    found: set[str] = set()
    for program in programs:
        command = [ROOT / "tools/emulate", "--print-ptx", program]
        found |= forms(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def listed(all_of_them: Iterable[str]) -> str:
    return (
        "// Forms of instructions that were compared with an H200; written by"
        " tests/probes/forms.py.\n" + "".join(f'"{form}",\n' for form in sorted(all_of_them))
    )


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        LIST.write_text(listed(compared(Path(folder))), encoding="utf-8")
    print(LIST)
    return 0


if __name__ == "__main__":
    sys.exit(main())
