#!/usr/bin/env python3
"""The device as a page loads it: one script, which holds the WebAssembly and the worker as text.

    artefact.py pack WASM OUT   makes it of what emscripten built
    artefact.py check FILE...   can a guide have them? Says also where the sources here are others

The script carries a hash of what it was built from. It is half a megabyte that git can't
compress, so it isn't renewed with each change: a guide may have one of older sources, a release may
not. Packing takes zopfli, whose gzip is a twentieth smaller than zlib's best. Checking takes
Python's own library alone: the guide's build runs it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EMULATOR = HERE.parent
COMMAND = "tools/emulator/page/build"
#: All that the WebAssembly and the worker are made of, and how.
_PARTS = (
    "include/emu/*.hpp",
    "src/ptx/*.?pp",
    "src/decode/*.?pp",
    "src/machine/*.?pp",
    "src/isa/*.?pp",
    "src/watch/*.?pp",
    "page/*.?pp",
    "page/CMakeLists.txt",
    "page/worker.js",
)
#: Each device has a name of its own in a page, made of its file's.
_HEAD = re.compile(r"^self\.LADDER_\w+ = ", re.MULTILINE)


def sources(emulator: Path = EMULATOR) -> list[Path]:
    found = [path for part in _PARTS for path in sorted(emulator.glob(part))]
    assert len(found) > 60, "the emulator's sources are not where they were"
    return found


def digest(emulator: Path = EMULATOR) -> str:
    whole = hashlib.sha256()
    for path in sources(emulator):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(emulator).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def pack(wasm: Path, emulator: Path = EMULATOR) -> str:
    packed = subprocess.run(["zopfli", "-c", wasm], capture_output=True, check=True).stdout
    parts = {
        "sources": digest(emulator),
        "glue": (emulator / "page/worker.js").read_text(encoding="utf-8"),
        "wasm": base64.b64encode(packed).decode(),
    }
    return f"// Made by {COMMAND}.\nself.LADDER_{wasm.stem.upper()} = {json.dumps(parts)};\n"


def unpack(script: str) -> dict[str, str]:
    """Its parts, the WebAssembly as the text that it is there."""
    if not (head := _HEAD.search(script)):
        raise ValueError("it names no device")
    parts: dict[str, str] = json.loads(script[head.end() :].rstrip("\n;"))
    return parts


def damage(script: Path) -> str:
    """Why a guide can't have it; empty where it can."""
    try:
        unpack(script.read_text(encoding="utf-8"))["sources"]
    except (OSError, ValueError, KeyError) as error:
        return f"{script.name}, the device in the page, can't be read ({error}); run {COMMAND}"
    return ""


def complaint(script: Path, emulator: Path = EMULATOR) -> str:
    """Why a release can't have it; empty where it can."""
    if why := damage(script):
        return why
    if unpack(script.read_text(encoding="utf-8"))["sources"] == digest(emulator):
        return ""
    return f"{script.name}, the device in the page, is of other sources; run {COMMAND}"


def main(arguments: list[str]) -> int:
    match arguments:
        case ["pack", wasm, out]:
            # In place: a rename would replace a link, or a device, by a file.
            Path(out).write_text(pack(Path(wasm)), encoding="utf-8")
            return 0
        case ["check", *scripts] if scripts:
            said = [why for script in scripts if (why := complaint(Path(script)))]
            print(*said, sep="\n", end="\n" if said else "", file=sys.stderr)
            return 1 if any(damage(Path(script)) for script in scripts) else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
