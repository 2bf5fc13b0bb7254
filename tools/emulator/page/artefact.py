#!/usr/bin/env python3
"""The device as a page loads it: one script, which holds the WebAssembly and the worker as text.

    artefact.py pack WASM OUT   makes it of what emscripten built
    artefact.py check FILE      is it of the sources that are here? If not, says what renews it

The script carries a hash of what it was built from, so that no guide shows an old device. Python's
own library alone: the guide's build runs this.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
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
_HEAD = "self.LADDER_DEVICE = "


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


def pack(wasm: bytes, emulator: Path = EMULATOR) -> str:
    parts = {
        "sources": digest(emulator),
        "glue": (emulator / "page/worker.js").read_text(encoding="utf-8"),
        "wasm": base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode(),
    }
    return f"// Made by {COMMAND}.\n{_HEAD}{json.dumps(parts)};\n"


def unpack(script: str) -> dict[str, str]:
    """Its parts, the WebAssembly as the text that it is there."""
    parts: dict[str, str] = json.loads(script[script.index(_HEAD) + len(_HEAD) :].rstrip("\n;"))
    return parts


def complaint(script: Path, emulator: Path = EMULATOR) -> str:
    """Why a guide can't have it; empty where it can."""
    try:
        made_of = unpack(script.read_text(encoding="utf-8"))["sources"]
    except (OSError, ValueError, KeyError) as error:
        return f"{script.name}, the device in the page, can't be read ({error}); run {COMMAND}"
    if made_of == digest(emulator):
        return ""
    return f"{script.name}, the device in the page, is of other sources; run {COMMAND}"


def main(arguments: list[str]) -> int:
    match arguments:
        case ["pack", wasm, out]:
            made = Path(f"{out}.part")
            made.write_text(pack(Path(wasm).read_bytes()), encoding="utf-8")
            made.replace(out)
            return 0
        case ["check", script]:
            if why := complaint(Path(script)):
                print(why, file=sys.stderr)
                return 1
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
