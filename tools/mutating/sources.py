"""A chapter's kernels as a source of their own: changed, compiled to PTX, and compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from common.records import mutants as recorded
from tools.mutating import ROOT, Failure

ARCHITECTURE = 900
#: What a lost atomic becomes.
PRELUDE = """\
namespace mutating {
template <class T, class V>
__device__ T plain_Add(T* at, V value) {
  const T old = *at;
  *at = old + static_cast<T>(value);
  return old;
}
template <class T, class V>
__device__ T plain_Exch(T* at, V value) {
  const T old = *at;
  *at = static_cast<T>(value);
  return old;
}
template <class T, class V>
__device__ T plain_Or(T* at, V value) {
  const T old = *at;
  *at = old | static_cast<T>(value);
  return old;
}
__device__ inline unsigned plain_Inc(unsigned* at, unsigned last) {
  const unsigned old = *at;
  *at = old >= last ? 0 : old + 1;
  return old;
}
}  // namespace mutating
"""
_CONDITION = re.compile(rb"^#if defined\(__CUDA_ARCH__\) && __CUDA_ARCH__ (<|>=) (\d+)$", re.M)
_SECONDS = 60


def kernel_files() -> list[str]:
    """What the chapters ship for a device, from the repository's root."""
    return recorded.kernel_files(ROOT)


def chapter_of(file: str) -> str:
    return Path(file).parts[1]


def digests() -> dict[str, str]:
    """Of each kernel file, what tells whether it has changed."""
    return {file: recorded.digest((ROOT / file).read_bytes()) for file in kernel_files()}


def older_lines(source: bytes) -> set[int]:
    """The lines that are compiled for cards older than an H200 alone."""
    lines: set[int] = set()
    skipped: bool | None = None  # inside such a condition: whether it leaves this line out
    for number, line in enumerate(source.split(b"\n"), 1):
        if found := _CONDITION.match(line):
            below = found[1] == b"<"
            skipped = (int(found[2]) <= ARCHITECTURE) if below else (int(found[2]) > ARCHITECTURE)
        elif skipped is not None and line.startswith(b"#else"):
            skipped = not skipped
        elif skipped is not None and line.startswith(b"#endif"):
            skipped = None
        elif skipped:
            lines.add(number)
    return lines


def for_older(source: bytes) -> bytes:
    """The same with what older cards get in place of what an H200 gets."""
    return _CONDITION.sub(lambda m: b"#if 1" if m[1] == b"<" else b"#if 0", source)


@dataclass(frozen=True)
class Ptx:
    """PTX, and for each kernel in it what of the text is its own."""

    text: str

    @cached_property
    def kernels(self) -> Mapping[str, str]:
        # Lines of the source, comments and debug information are left out.
        plain = re.sub(r"^\s*(\.loc|\.file|//).*\n|//.*$", "", self.text, flags=re.M)
        plain = plain.split("\t.section", 1)[0]
        heads = list(re.finditer(r"^(?:\.\w+ )*\.(entry|func)\b", plain, re.M))
        bodies: dict[str, str] = {}
        outside = plain[: heads[0].start()] if heads else plain
        for head, after in zip(heads, [*heads[1:], None][: len(heads)], strict=True):
            part = plain[head.start() : after.start() if after else len(plain)]
            end = part.rfind("\n}")
            bodies[part[: end + 2]] = head[1]
            outside += part[end + 2 :]
        variables = {}
        for line in re.findall(r"^\.(?:shared|global|const|extern)\b.*$", outside, re.M):
            name = re.search(r"([\w$]+)(?:\[\d*\])?(?: = .*)?;", line)
            variables[name[1] if name else line] = line
        functions = [body for body, kind in bodies.items() if kind == "func"]
        kernels = {}
        for body, kind in bodies.items():
            name = re.search(r"\.entry ([\w$]+)", body)
            if kind == "entry" and name:
                words = set(re.findall(r"[\w$]+", body))
                used = [line for variable, line in variables.items() if variable in words]
                kernels[name[1]] = "\n".join([*sorted(used), *functions, body])
        return kernels

    def changed_from(self, base: Ptx) -> set[str]:
        """The kernels that differ from those of the same name."""
        return {name for name, text in base.kernels.items() if self.kernels.get(name) != text}


def nvcc_of(build: Path) -> Path:
    """The compiler that made a build; for one without its CMake tree, this machine's."""
    cache = build / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8") if cache.exists() else ""
    found = re.search(r"^CMAKE_CUDA_COMPILER:\w+=(.+)$", text, re.M)
    places = [found[1]] if found else []
    places += [shutil.which("nvcc") or "", "/usr/local/cuda/bin/nvcc"]
    for place in places:
        if place and os.access(place, os.X_OK):
            return Path(place)
    raise Failure("there is no nvcc in the PATH, nor in /usr/local/cuda/bin")


class Compiler:
    """Compiles one of a chapter's kernel files in a folder of its own, with changes."""

    def __init__(
        self, chapter: str, name: str, nvcc: Path, work: Path, instances: list[str]
    ) -> None:
        """*instances*: the templates' that the chapter's programs launch, as they are declared."""
        self.nvcc = nvcc
        self.source = (ROOT / "chapters" / chapter / name).read_bytes()
        self.folder = work / name
        here = self.folder / "chapters" / chapter
        (here / "tests").mkdir(parents=True, exist_ok=True)
        for other in ROOT.glob("chapters/chapter*"):
            link = self.folder / "chapters" / other.name
            if other.name != chapter and not link.is_symlink():
                link.symlink_to(other)
        self.file = here / name
        text = PRELUDE + f'#include "{self.file}"\n'
        own = "take_home" if name == "take_home.cuh" else chapter.split("_")[0]
        # Kernels that tests add, to launch what no variant does.
        for path in sorted((ROOT / "chapters" / chapter / "tests").glob(f"*_{name}")):
            shutil.copy(path, here / "tests" / path.name)
            text += f'#include "{here / "tests" / path.name}"\n'
        wanted = [each for each in instances if re.match(rf"(void )?{own}::\w+<", each)]
        text += "".join(f"template __global__ {instance};\n" for instance in wanted)
        (self.folder / "kernels.cu").write_text(text, encoding="utf-8")

    def compile(self, source: bytes, *, older: bool = False) -> Ptx | str:
        """The PTX with that text in the file's place, or the compiler's first error."""
        self.file.write_bytes(for_older(source) if older else source)
        out = self.folder / "kernels.ptx"
        out.unlink(missing_ok=True)
        command = [
            str(self.nvcc),
            "-ptx",
            "-arch=compute_90",
            "-O3",
            "-lineinfo",
            "-std=c++20",
            "-w",
        ]
        try:
            done = subprocess.run(
                [*command, "-o", out, self.folder / "kernels.cu"],
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "the compiler takes longer than a minute"
        if done.returncode == 0 and out.exists():
            return Ptx(out.read_text(encoding="utf-8"))
        said = done.stderr + done.stdout
        errors = [line for line in said.splitlines() if "error" in line]
        return re.sub(r"^.*?error\s*:?\s*", "", errors[0]) if errors else "the compiler failed"
