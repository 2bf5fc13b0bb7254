"""tools/judge as a reader meets it: what it prints, its statuses, and what can go wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from tools.judging import NOT_AVAILABLE, ROOT, Failure, compiler, form, progress, puzzles
from tools.judging import judge as judging
from tools.tests.built import nvcc
from tools.tests.limits import LIMIT

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device")]

JUDGE = ROOT / "tools/judge"
KEY = "chapter02/1"
#: With which a script passes for NVIDIA's compiler.
AS_NVCC = "case $1 in --version) echo NVIDIA; exit;; esac"
Done = subprocess.CompletedProcess[str]


def run(
    *words: str | Path, cwd: Path | None = None, prefix: tuple[str, ...] = (), **env: str
) -> Done:
    return subprocess.run(
        [*prefix, JUDGE, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=LIMIT,
        env={**os.environ, **env},
    )


def answer(folder: Path, name: str = "mine.cu") -> Path:
    file = folder / name
    puzzle = puzzles.find(KEY)
    file.write_text(f"// judge: {KEY}\n{puzzles.solution(puzzle.answer)}", encoding="utf-8")
    return file


def failed(done: Done, status: int, *said: str) -> None:
    """One sentence on stderr, nothing on stdout."""
    assert done.returncode == status, done
    assert done.stdout == ""
    assert done.stderr.startswith("tools/judge: ") and done.stderr.count("\n") == 1
    for text in said:
        assert text in done.stderr


def test_an_accepted_file_is_remembered(tmp_path: Path) -> None:
    folder = tmp_path / "my kernels"  # with a space
    folder.mkdir()
    file = answer(folder)
    before = file.read_bytes()
    done = run(file, "--details")
    assert done.returncode == 0 and done.stderr == "", done
    first = done.stdout.splitlines()[0]
    assert first.startswith(f"accepted  {KEY} Fill the tile: right at ")
    assert first.endswith("shapes; reads each sector once")
    assert "counted at n = 2^16, block 256" in done.stdout
    assert f"1 of {len(puzzles.all_puzzles())} solved in {folder}" in done.stdout
    assert file.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [progress.FILE, "mine.cu"]
    listed = run("--list", cwd=folder).stdout
    assert f"✓ {KEY}" in listed and listed.count("✓") == 1 and "1 of " in listed
    assert "✓" not in run("--list", tmp_path).stdout


def test_json(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(puzzles.find(KEY).skeleton(), encoding="utf-8")
    done = run("--json", file.name, cwd=tmp_path)
    verdict = json.loads(done.stdout)
    assert done.returncode == verdict["status"] == 4
    assert verdict["accepted"] is False and verdict["reason"] == "init"
    assert verdict["line"].startswith("mine.cu:")
    assert not (tmp_path / progress.FILE).exists()


def test_new_writes_a_skeleton_and_never_over_a_file(tmp_path: Path) -> None:
    done = run("new", "chapter04/2", tmp_path / "deep/er")
    file = tmp_path / "deep/er/chapter04_2_swizzled.cu"
    assert done.returncode == 0 and str(file) in done.stdout
    assert file.read_text(encoding="utf-8") == puzzles.find("chapter04/2").skeleton()
    file.write_text("mine", encoding="utf-8")
    failed(run("new", "chapter04/2", tmp_path / "deep/er"), 2, "stays as it is")
    assert file.read_text(encoding="utf-8") == "mine"
    failed(run("new", "chapter04/3", file), 2, "is not a folder")


def test_what_is_no_submission(tmp_path: Path) -> None:
    failed(run(tmp_path / "none.cu"), 2, "no such file")
    failed(run(""), 2, "an argument is empty")
    failed(run(tmp_path), 2, "is a folder")
    os.mkfifo(tmp_path / "pipe.cu")
    failed(run(tmp_path / "pipe.cu"), 2, "is not a regular file")
    junk = tmp_path / "junk.cu"
    junk.write_bytes(bytes(range(256)) * 20)
    failed(run(junk), 2, "is not a text file")
    junk.write_bytes(b"a" * (1 << 20) + b"a")
    failed(run(junk), 2, "more than 1048576 bytes")
    junk.write_text("__global__ void sum() {}\n", encoding="utf-8")
    failed(run(junk), 2, "names no puzzle", "--puzzle KEY")
    failed(run(junk, "--puzzle", "chapter04/9"), 2, "no puzzle chapter04/9", "chapter04/2")
    failed(run(junk, "--puzzle", "poem"), 2, "--list")
    assert junk.read_text(encoding="utf-8") == "__global__ void sum() {}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fast"], "--fast: no such option"),
        ([], "one FILE.cu"),
        (["a.cu", "b.cu"], "one FILE.cu"),
        (["new"], "new takes"),
        (["--puzzle"], "needs a key"),
        (["a.cu", "--puzzle", ""], "needs a key"),
        (["a.cu", "--puzzle="], "needs a key"),
        (["--list", "a", "b"], "one folder"),
        (["--list", "/nowhere"], "/nowhere is not a folder"),
        (["a.cu", "--puzzle=chapter02/1"], "a.cu: no such file"),
    ],
)
def test_bad_arguments(words: list[str], said: str) -> None:
    failed(run(*words), 2, said)


def test_help() -> None:
    done = run("--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: tools/judge FILE.cu")


@pytest.mark.nvcc
def test_an_empty_file_and_errors_of_the_compiler(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.write_text("", encoding="utf-8")
    done = run(file, "--puzzle", KEY)
    assert done.returncode == 1 and "no kernel in it" in done.stdout
    file.write_text('#include "not_there.cuh"\n', encoding="utf-8")
    done = run(file, "--puzzle", KEY)
    assert done.returncode == 1 and "mine.cu:1: not_there.cuh: No such file" in done.stdout


@pytest.mark.nvcc
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('#include "other.cuh"\n', "other.cuh:2: identifier"),
        ("__global__ void sum() {\n  if (1) {\n}\n", 'mine.cu:1: expected a "}" to match this "{"'),
        ('#line 70 "else.cu"\n  # 80 "else.cu"\nint a = ;\n', "mine.cu:3: expected an expression"),
        (
            'void f() {\n}\n__global__ void k() {\n asm("foo;"); }\n',
            "mine.cu:4: the assembler says",
        ),
        ('__global__ void k() {\n asm("mov.u32 ;;, 1;"); }\n', "mine.cu:2: the assembler says"),
        ("#include <type_traits>\nstatic_assert(\nstd::is_same_v<int>);\n", "mine.cu:3: "),
        ('#include "pipe"\n', "mine.cu:1: pipe is not a regular file"),
        ('// x\n#include "/dev/zero"\n', "mine.cu:2: /dev/zero is not a regular file"),
        ('#define H "pipe"\n#include H\n', "the compiler waits for ever: does the file #include a"),
    ],
)
def test_an_error_has_the_readers_line(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "other.cuh").write_text("#pragma once\nint f() { return none; }\n")
    os.mkfifo(tmp_path / "pipe")
    file = tmp_path / "mine.cu"
    refusal = compiler.compile_to_ptx(file, text)
    assert isinstance(refusal, compiler.Refusal)
    where = f"mine.cu:{refusal.line}: " if refusal.line else ""
    assert f"{where}{refusal.message}".startswith(line), refusal


@pytest.mark.nvcc
def test_what_the_preprocessor_leaves_out_is_no_program(tmp_path: Path) -> None:
    file = answer(tmp_path)
    kernel = file.read_text(encoding="utf-8")
    main = "int main() { return 0; }\n"
    file.write_text(f'{kernel}#if 0\n{main}#endif\n// {main}const char* s = R"({main})";\n')
    done = run(file, NVCC_APPEND_FLAGS="--no-such-option", NVCC_PREPEND_FLAGS="-DNDEBUG")
    assert done.returncode == 0, done
    file.write_text(f"{kernel}#if 0\n#else\n{main}#endif\n")
    done = run(file)
    assert done.returncode == 1 and "has a program of its own" in done.stdout
    assert f"mine.cu:{kernel.count(chr(10)) + 3}: " in done.stdout


def _held_to_permissions() -> tuple[str, ...]:
    """Runs a command as one whom files' permissions stop: they don't stop root."""
    if os.geteuid() != 0:
        return ()
    rights = "-dac_override,-dac_read_search"
    return ("setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}")


def test_a_file_or_folder_without_permission(tmp_path: Path) -> None:
    file = answer(tmp_path)
    prefix = _held_to_permissions()
    tmp_path.chmod(0o555)
    try:
        done = run(file, prefix=prefix)
        assert done.returncode == 0 and done.stdout.startswith("accepted"), done
        assert "your progress can't be noted" in done.stderr and done.stderr.count("\n") == 1
        failed(run("new", KEY, tmp_path, prefix=prefix), 2, "can't be written: Permission denied")
        file.chmod(0)
        failed(run(file, prefix=prefix), 2, "can't be read: Permission denied")
    finally:
        tmp_path.chmod(0o755)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.cu"]


def test_progress_that_is_damaged_counts_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / progress.FILE
    deep = "[" * 200_000
    for text in ("{", deep, "[]", '{"accepted": []}', '{"accepted": {"chapter02/1": 3}}', "\udcff"):
        file.write_bytes(text.encode(errors="surrogateescape"))
        assert progress.accepted(tmp_path) == {}
        assert progress.remember(tmp_path, KEY, "mine.cu") == ""
        assert progress.accepted(tmp_path) == {KEY: "mine.cu"}


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = answer(tmp_path)
    failed(run(file, CUDACXX="/nowhere/nvcc"), NOT_AVAILABLE, "CUDACXX names /nowhere/nvcc")
    monkeypatch.delenv("CUDACXX")
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(Failure, match="run tools/setup") as raised:
        compiler.nvcc()
    assert raised.value.status == NOT_AVAILABLE


def test_a_compiler_that_breaks(tmp_path: Path) -> None:
    file = answer(tmp_path)
    broken = tmp_path / "nvcc"
    broken.write_text(f"#!/bin/sh\n{AS_NVCC}\nexit 5\n", encoding="utf-8")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    done = run(file, CUDACXX=str(broken))
    assert done.returncode == 1 and "the compiler failed and said nothing" in done.stdout
    for other in ("/bin/true", "/bin/false", "/bin/echo", "g++"):  # no fault of the kernel's
        failed(run(file, CUDACXX=other), NOT_AVAILABLE, "isn't a CUDA compiler")
    broken.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    failed(run(file, CUDACXX=str(broken)), NOT_AVAILABLE, "can't be started")


def test_an_embedded_device_that_cannot_be_built(tmp_path: Path) -> None:
    """In a copy of what the judge reads, with a CMake that fails."""
    copy = tmp_path / "copy"
    for part in (
        "tools/judging",
        "tools/emulator",
        "common/records",
        "chapters/chapter02_smem/puzzles",
    ):
        shutil.copytree(ROOT / part, copy / part, ignore=lambda *_: {"tests", "fuzz", "src"})
    for name in ("counters.json", "arithmetic.py", "files.py"):
        shutil.copy(ROOT / "common" / name, copy / "common")
    for name in ("judge", "terminal.py", "python.sh"):
        shutil.copy(ROOT / "tools" / name, copy / "tools" / name)
    (tmp_path / "cmake").write_text("#!/bin/sh\necho no compiler\nexit 1\n", encoding="utf-8")
    (tmp_path / "cmake").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        [copy / "tools/judge", answer(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "EMU_LIBRARY": "", "PATH": path},
    )
    assert done.returncode == NOT_AVAILABLE and done.stdout == ""
    assert "tools/judge: the embedded device could not be built" in done.stderr
    assert "no compiler" in done.stderr and "nothing was judged" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_judge_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    file = answer(tmp_path)
    slow = tmp_path / "nvcc"
    slow.write_text(f'#!/bin/sh\necho $$ >"{tmp_path}/started"\nexec sleep 60\n', encoding="utf-8")
    slow.chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with subprocess.Popen(
        [JUDGE, file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "CUDACXX": str(slow), "TMPDIR": str(scratch)},
    ) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "started").is_file() or not (tmp_path / "started").read_text():
            assert time.monotonic() < end
            time.sleep(0.02)
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number and out == ""
    assert ("stopped" in err) == (number == signal.SIGINT)
    assert not Path("/proc", (tmp_path / "started").read_text().strip()).exists()
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / progress.FILE).exists()


# ------------------------------------------------------------------ the form


@pytest.mark.parametrize(
    ("signature", "mangled"),
    [
        ("sum(const int* in, int* partial, std::size_t n)", "_Z3sumPKiPim"),
        ("f(int* a, int* b, const int* c, const int* d)", "_Z1fPiS_PKiS1_"),
        ("g(const int* a, unsigned n, const float* b, float* c)", "_Z1gPKijPKfPf"),
        ("h(const unsigned char* a, unsigned long long* b, long long c)", "_Z1hPKhPyx"),
    ],
)
def test_mangled_names(signature: str, mangled: str, tmp_path: Path) -> None:
    source = f"__global__ void {signature} {{}}\n"
    assert form.form_of(source).mangled == mangled
    file = tmp_path / "a.cu"
    file.write_text(f"#include <cstddef>\n{source}", encoding="utf-8")
    ptx = compiler.compile_to_ptx(file, file.read_text(encoding="utf-8"))
    assert isinstance(ptx, str) and form.entries(ptx) == [mangled]
    assert nvcc().exists()


def test_comments_and_strings_are_no_host_code() -> None:
    text = '// cudaMalloc(\n/* main(\n */ const char* a = "int main(";\nint main('
    raw = form.blanked('R"x(")" int main()" )x" + 1')
    assert raw.strip() == "+ 1"
    blanked = form.blanked(text).split("\n")
    assert [line.rstrip() for line in blanked[:2]] == ["", ""]
    assert "const char* a" in blanked[2] and "main" not in blanked[2]
    assert blanked[3] == "int main("
    assert [len(line) for line in blanked] == [len(line) for line in text.split("\n")]


def test_progress_waits_for_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / progress.FILE)
    assert progress.accepted(tmp_path) == {}


def test_letters_of_seven_bits_are_enough(tmp_path: Path) -> None:
    progress.remember(tmp_path, "chapter02/1", "mine.cu")
    ran = subprocess.run(
        [ROOT / "tools/judge", "--list", tmp_path],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"? chapter02/1" in ran.stdout


def test_a_kernel_elsewhere_is_named_as_its_source_has_it() -> None:
    wanted = form.form_of("__global__ void sum(const int* in, int* partial, std::size_t n) {}")
    for entry, said in {
        "_ZN4mine3sumEPKiPim": "mine::sum is in a namespace: take it out",
        "_ZN4mine5otherEPKiPim": "no kernel sum, only mine::other",
        "_Z3sumPKiPi": "sum has other parameters",
        "_Z5otherv": "no kernel sum, only other",
    }.items():
        (fault,) = form.faults(wanted, "a.cu", "", f".entry {entry}(\n)\n{{\nret;\n}}\n")
        assert fault.what.startswith(said)


def test_another_kernel_of_the_file_counts_for_nothing() -> None:
    other = ".visible .entry old(\n)\n{\ndiv.u32 %r1, %r2, %r3;\n}\n"
    mine = ".entry sum(\n)\n{\nmov.u32 %r1, wide;\nrem.s32 %r1, 1, 2;\n"
    mine += "fence.sc.cta;\natom.add.acq_rel.gpu.u32 %r1, [x], 1;\n// div.u32\n}\n"
    helper = ".func help()\n{\ndiv.rn.f32 %f1, %f2, %f3;\n}\n"
    ptx = f"{other}{mine}{helper}"
    hidden = ptx.replace("%r3;\n}", "%r3;\nret; } .func its() { rem.u32 %r1, %r2, %r3;\n}")
    assert form.divisions(hidden, "sum") == 3  # begun within another kernel
    assert (form.divisions(ptx, "sum"), form.divisions(ptx, "old")) == (2, 2)
    assert (form.fences(ptx, "sum"), form.fences(ptx, "old")) == (2, 0)


def test_a_stack_is_as_large_as_the_device_and_the_runtime_have_it() -> None:
    source = ROOT / "tools/emulator/src"
    device = (source / "decode/spaces.cpp").read_text(encoding="utf-8")
    runtime = (source / "cudart/runtime_device.cpp").read_text(encoding="utf-8")
    assert f"kStackBytes = {judging.DEVICE_STACK // 1024} << 10;" in device
    assert f"case cudaLimitStackSize: return {judging.STACK};" in runtime


def test_frames_are_given_to_the_functions_that_have_them() -> None:
    ptx = ".func (.param .b32 r) one(.param .b32 a)\n{\nret;\n}\n.func two\n{ ret; }\n"
    ptx += ".func one;\n.entry k()\n{\nret;\n}\n"
    wider = form.with_frames(ptx, {"one": 24, "two": 8, "k": 100}, 2)
    frames = {
        name: f".local .align 16 .b8 __the_frame[{size}];"
        for name, size in (("one", 48), ("two", 16))
    }
    assert wider.count("__the_frame") == 2
    assert f"a)\n{{ {frames['one']}\nret" in wider and f"two\n{{ {frames['two']} ret" in wider


def test_the_compiler_cannot_take_all_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "MOST_MEMORY", 1 << 28)
    greedy = tmp_path / "nvcc"
    greedy.write_text(f"#!/bin/sh\n{AS_NVCC}\nsleep 0.1\nulimit -v >&2\nexit 1\n", encoding="utf-8")
    greedy.chmod(0o755)
    monkeypatch.setenv("CUDACXX", str(greedy))
    made = compiler.compile_to_ptx(answer(tmp_path), "")
    assert isinstance(made, compiler.Refusal) and made.said == str(1 << 18)
