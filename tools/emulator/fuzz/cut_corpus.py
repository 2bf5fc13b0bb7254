#!/usr/bin/env python3
"""Cuts PTX files into a fuzzer's corpus: small modules of one kernel each, and a dictionary.

    tools/emulator/fuzz/cut_corpus.py FILE.ptx...

Line numbers, comments and debugging sections go. Of all kernels those are kept, smallest first,
that have an instruction form (opcode with its modifiers) that none before them has. What nvcc -ptx
makes of programs of reductions, probes/probes.cu and the programs in tests/ was given to it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LARGEST = 16_000  # bytes of a kernel: longer ones only slow the fuzzer down
FORM = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z]\w*(?:\.\w+(?:::\w+)*)*)\b", re.MULTILINE)
WORD = re.compile(r"\.?[a-z]\w*(?:::\w+)*")


def plain(text: str) -> str:
    """PTX without what tells the interpreter nothing."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*\.(loc|file)\b[^\n]*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*\.section[^{]*\{[^}]*\}", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\.(target[^\n]*), debug$", r".\1", text, flags=re.MULTILINE)
    return re.sub(r"\n\s*\n+", "\n", text)


def modules(text: str) -> list[str]:
    """One for each kernel: the head, what it may need of the module, and its body."""
    bodies = re.compile(r"^[^\n;{}]*\.(entry|func)\b[^{;]*(\{.*?^\}|;)", re.MULTILINE | re.DOTALL)
    entries = [m[0] for m in bodies.finditer(text) if m[1] == "entry" and m[2] != ";"]
    functions = [m[0] for m in bodies.finditer(text) if m[1] == "func"]
    rest = [line for line in bodies.sub("", text).split("\n") if line.strip()]
    head = [line for line in rest if re.match(r"\.(version|target|address_size)\b", line)]
    variables = [line for line in rest if line not in head]
    result = []
    for entry in entries:
        names = set(re.findall(r"[\w$]+", entry))
        needed = []
        for part in [*variables, *functions]:
            declared = re.findall(r"([\w$]+)\s*(?:\[[^\]]*\]|=|;|\()", part)
            if names & set(declared):
                needed.append(part)
                names |= set(re.findall(r"[\w$]+", part))
        result.append("\n".join([*head, *needed, entry]) + "\n")
    return result


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    kernels = []
    for path in sys.argv[1:]:  # cuobjdump prints one module after the other
        text = plain(Path(path).read_text("utf-8"))
        for module in re.split(r"(?=^\.version)", text, flags=re.MULTILINE)[1:]:
            kernels += modules(module)
    seen: set[str] = set()
    words: set[str] = set()
    number = 0
    for kernel in sorted(set(kernels), key=lambda k: (len(k), k)):
        forms = set(FORM.findall(kernel))
        if len(kernel) > LARGEST or forms <= seen:
            continue
        seen |= forms
        words |= {word for form in forms for word in re.split(r"(?=\.)", form) if word}
        words |= {word for word in WORD.findall(kernel) if word.startswith(".")}
        name = re.search(r"\.entry\s+([\w$]+)", kernel)
        assert name
        number += 1
        plain_name = subprocess.run(["c++filt", "-p", name[1]], capture_output=True, text=True)
        short = re.sub(r"<.*>|\(.*\)", "", plain_name.stdout).split("::")[-1].strip()
        path = HERE / "corpus/ptx" / f"{number:02}_{short}.ptx"
        path.write_text(kernel, encoding="utf-8")
    # What the decoder asks for by name, too: forms that no program here has.
    for source in (HERE.parent / "src").glob("*/*.cpp"):
        if not source.stem.startswith(("runtime", "report", "profile", "fatbin", "memory.")):
            text = source.read_text("utf-8")
            words |= set(re.findall(r'"(\.?[a-z][a-z0-9_]{1,11}(?:::\w+)*)"', text))
    lines = [f'"{word}"\n' for word in sorted(words)]
    (HERE / "ptx.dict").write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
