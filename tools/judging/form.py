"""The form of a submission: one kernel with a puzzle's parameters, and nothing beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.judging import flow

#: Types of parameters: their letter in a mangled name, their size, how Python packs them.
TYPES = {
    "int": ("i", 4, "i"),
    "unsigned": ("j", 4, "I"),
    "unsigned char": ("h", 1, "B"),
    "long long": ("x", 8, "q"),
    "unsigned long long": ("y", 8, "Q"),
    "std::size_t": ("m", 8, "Q"),
    "float": ("f", 4, "f"),
}

#: What a kernel may not do to look fast or to go uncounted, and why. Matched in PTX.
_TIMED = {
    r"\bcp\.(?:async|reduce)\b[\w.]*\.bulk\b": "copies in bulk: no count here sees what that reads",
    r"\b(?:tex|tld4|suld|sust)\.": "uses textures or surfaces: no count here sees what those read "
    "or write",
    r"%(?:smid|nsmid|warpid|nwarpid|gridid|pm\d+(?:_64)?)\b": "asks where it runs: a "
    "kernel must be right wherever it runs",
    r"%envreg\d+\b": "asks for a cooperative launch, as this_grid().sync() does: the puzzle has "
    "none",
}

_TIME = {
    "clock": "reads the clock: its result must not depend on its time",
    "sleep": "sleeps: waiting isn't work",
}

#: What belongs to a program and not to a kernel. Matched in the source without its comments.
_HOST = {
    r"\bcuda(?:Event|Launch|Stream|Memcpy|Malloc|Device|Func|Get|Set|Free|Graph)\w*": (
        "calls CUDA's runtime"
    ),
    r"\b(?:(?<!cuda::)std::chrono|clock_gettime|gettimeofday|QueryPerformanceCounter|dlsym)\b": (
        "takes a time of its own or takes a function's place"
    ),
    r"\b__attribute__\s*\(\s*\(\s*constructor|<<<": "runs code of its own on the host",
    r"\bint\s+main\s*\(": "has a program of its own",
}


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str  #: one of TYPES
    const: bool
    pointer: bool

    @property
    def text(self) -> str:
        return f"{'const ' * self.const}{self.type}{'*' * self.pointer} {self.name}"


@dataclass(frozen=True)
class Form:
    """The kernel that a puzzle asks for."""

    name: str
    parameters: tuple[Parameter, ...]

    @property
    def text(self) -> str:
        return f"__global__ void {self.name}({', '.join(p.text for p in self.parameters)})"

    @property
    def mangled(self) -> str:
        """The kernel's name in PTX, as the Itanium C++ ABI writes it."""
        known: list[str] = []

        def once(code: str) -> str:
            if code in known:
                at = known.index(code)
                return "S_" if at == 0 else f"S{at - 1:x}_".upper()
            known.append(code)
            return ""

        out = ""
        for p in self.parameters:
            letter = TYPES[p.type][0]
            if not p.pointer:
                out += letter
                continue
            inner = f"K{letter}" if p.const else letter
            if f"P{inner}" in known:
                out += once(f"P{inner}")
                continue
            written = (once(inner) or inner) if p.const else letter
            known.append(f"P{inner}")
            out += f"P{written}"
        return f"_Z{len(self.name)}{self.name}{out or 'v'}"


def blanked(source: str) -> str:
    """C++ without its comments and the insides of strings; lines stay where they are."""
    pattern = re.compile(
        r'R"([^()\\\s]{0,16})\(.*?\)\1"|//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL
    )
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def code_of(ptx: str) -> str:
    """PTX without its comments and the insides of strings; lines stay where they are. By its own
    rules: what a C++ reader takes for a comment, ptxas may run."""
    pattern = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"', re.DOTALL)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), ptx)


def form_of(source: str) -> Form:
    """The one kernel of an answer."""
    kernels = re.findall(
        r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)",
        blanked(source),
    )
    if len(kernels) != 1:
        raise ValueError(f"an answer has one __global__ function, this one has {len(kernels)}")
    name, parameters = kernels[0]
    return Form(name, tuple(map(_parameter, parameters.split(","))))


def _parameter(text: str) -> Parameter:
    names = "|".join(sorted(TYPES, key=len, reverse=True))
    found = re.fullmatch(rf"\s*(const\s+)?({names})\s*(\*?)\s*(\w+)\s*", text)
    if not found:
        raise ValueError(f"parameter {text.strip()!r}: the judge knows {', '.join(TYPES)}")
    return Parameter(found[4], found[2], bool(found[1]), bool(found[3]))


@dataclass(frozen=True)
class Wrong:
    """Why a file isn't a submission."""

    what: str
    line: int = 0


def entries(ptx: str) -> list[str]:
    """The kernels' mangled names."""
    return re.findall(r"\.entry\s+([\w$]+)\s*\(", code_of(ptx))


def _plain(mangled: str) -> str:
    """A kernel's name as its source has it, without parameters."""
    names: list[str] = []
    rest = re.sub(r"^_ZN?L?", "", mangled)
    while found := re.match(r"L?(\d+)", rest):
        end = found.end() + int(found[1])
        names.append(rest[found.end() : end])
        rest = rest[end:]
        if not mangled.startswith("_ZN"):
            break
    return "::".join(names) or mangled


def faults(form: Form, file: str, source: str, ptx: str, entry: str = "") -> Iterator[Wrong]:
    """What keeps a file that compiles from being judged. `entry`: its kernel's name in the PTX,
    where that isn't the form's."""
    yield from host_code(source)
    names = entries(ptx)
    if (entry or form.mangled) not in names:
        same = [each for each in names if _plain(each) == form.name]
        others = sorted({_plain(each) for each in names})
        if form.name in names:
            yield Wrong(f'{form.name} is extern "C", which hides its parameters: leave that out')
        elif any(each.startswith(f"_Z{len(form.name)}{form.name}I") for each in same):
            yield Wrong(f"{form.name} is a template: write it with the types of {form.text}")
        elif same:
            yield Wrong(f"{form.name} has other parameters; the puzzle calls {form.text}")
        elif inner := next((each for each in others if each.endswith(f"::{form.name}")), ""):
            yield Wrong(f"{inner} is in a namespace: take it out, the puzzle calls {form.text}")
        elif others:
            yield Wrong(
                f"no kernel {form.name}, only {', '.join(others)}; the puzzle calls {form.text}"
            )
        else:
            yield Wrong(f"no kernel in it; the puzzle calls {form.text}")
    yield from _timed(ptx, file)


def host_code(source: str) -> Iterator[Wrong]:
    """What of a file is a program's and not a kernel's."""
    text = blanked(source)
    for pattern, why in _HOST.items():
        if found := re.search(pattern, text):
            line = text.count("\n", 0, found.start()) + 1
            yield Wrong(
                f"{found[0].strip()} {why}: the judge takes a kernel alone, "
                "so move the program around it to another file",
                line,
            )


def lines_of(ptx: str, file: str) -> list[int]:
    """Of each line of the PTX, the line of the reader's file that it comes from; 0 before any."""
    files = re.findall(r'^\s*\.file\s+(\d+)\s+"(?:[^"]*/)?([^"/]+)"', ptx, re.MULTILINE)
    own = {number for number, name in files if name == file}
    out, line = [], 0
    for text in ptx.split("\n"):
        if text.lstrip().startswith(".loc"):
            # The place itself, or the one where a function of a header stands.
            at = re.findall(r"(?:\.loc|inlined_at)\s+(\d+)\s+(\d+)", text)
            line = next((int(number) for where, number in at if where in own), line)
        out.append(line)
    return out


def _timed(ptx: str, file: str) -> Iterator[Wrong]:
    lines = lines_of(ptx, file)
    code = code_of(ptx)  # a comment can hide a clock's name, not a clock
    if flow.CLOCK.search(code) or "nanosleep" in code:
        for number, what in flow.clock_uses(code):
            yield Wrong(_TIME[what], lines[number])
    for number, text in enumerate(code.split("\n")):
        for pattern, why in _TIMED.items():
            if re.search(pattern, text):
                yield Wrong(why, lines[number])


def runs(ptx: str, kernel: str) -> str:
    """The PTX of a kernel and of the file's functions, without comments and other kernels."""
    # Wherever they stand: what inline assembly ends and begins has no line of its own.
    pieces = re.split(r"(?<![\w$%])\.(?=(?:entry|func)\b)", code_of(ptx))[1:]
    own = re.compile(rf"func\b|entry\s+{re.escape(kernel)}\s*\(")
    return "".join(piece for piece in pieces if own.match(piece))


def most_threads(ptx: str, kernel: str) -> int:
    """What a kernel's launch bounds allow; 0 where it has none."""
    found = re.search(r"\.maxntid\s+(\d+)", runs(ptx, kernel))
    return int(found[1]) if found else 0


def with_frames(ptx: str, frames: dict[str, int], scale: int) -> str:
    """The PTX with functions whose frames have so many bytes, `scale` times, beside their own."""
    out, done = [], 0
    for found in re.finditer(r"(?<![\w$%])\.func\b([^;{]*)\{", code_of(ptx)):
        name = re.search(r"([\w$%]+)\s*(?:\(|$)", re.sub(r"^\s*\([^)]*\)", "", found[1]).strip())
        if name and (size := frames.get(name[1], 0) * scale):
            out += [ptx[done : found.end()], f" .local .align 16 .b8 __the_frame[{size}];"]
            done = found.end()
    return "".join((*out, ptx[done:]))


def local_bytes(ptx: str) -> int:
    """Bytes that each thread keeps in local memory, as the PTX declares them."""
    sizes = re.findall(r"\.local\s+\.align\s+\d+\s+\.b8\s+[\w$]+\[(\d+)\]", ptx)
    return sum(map(int, sizes))


def divisions(ptx: str, kernel: str) -> int:
    """Divisions and remainders in a kernel's PTX and in the file's functions, also of floats."""
    return len(re.findall(r"\b(?:div|rem|rcp)\.[\w.]+", runs(ptx, kernel)))


def doubles(ptx: str, kernel: str) -> int:
    """Instructions there that work on doubles, or make them."""
    return len(re.findall(r"\b[a-z]\w*(?:\.\w+)*\.f64\b", runs(ptx, kernel)))


def dependent_loads(ptx: str, kernel: str) -> int:
    """Loads from global memory there that wait for what another brings."""
    return flow.dependent_loads(runs(ptx, kernel))


def counts_in_pipelines(ptx: str, kernel: str) -> bool:
    """Whether its atomics only count who is done with the mbarriers of a pipeline."""
    text = runs(ptx, kernel)
    return "mbarrier." in text and flow.atomics_of_values(text) == 0


def fences(ptx: str, kernel: str) -> int:
    """Fences there, and atomics that order other accesses as a fence would."""
    ordered = r"\b(?:membar|fence)\b|\b(?:atom|red|ld|st)\.[\w.]*\b(?:acquire|release|acq_rel)\b"
    return len(re.findall(ordered, runs(ptx, kernel)))


#: Fences and strong accesses with the scope of a GPU, which an atomic has if it says none, or less.
_NEAR = re.compile(
    r"\bmembar\.(?:gl|cta)\b|\bfence\.[\w.]*\b(?:gpu|cluster|cta)\b|"
    r"\b(?:ld|st)\.(?![\w.]*\bshared)[\w.]*(?<!:)\b(?:gpu|cluster|cta)\b|"
    r"\b(?:atom|red)\.(?!async|[\w.]*\bshared|[\w.]*\bsys\b)"
)


def below_system_scope(ptx: str, kernel: str) -> int:
    """What orders or hands on there, and not as far as another GPU."""
    return len(_NEAR.findall(runs(ptx, kernel)))
