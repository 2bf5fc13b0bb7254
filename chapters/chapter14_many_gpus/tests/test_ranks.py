"""Chapter 14 as one process per GPU, and what it says where one of them, or NCCL, fails.

Needs no GPU: each rank has an embedded device, and a library of the test's stands in for NCCL.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from chapters.tests.programs import program
from tools.tests.built import BUILD, nvcc

pytestmark = [pytest.mark.all, pytest.mark.built("programs", "embedded_device", "matrices")]

CHAPTER = "chapter14_many_gpus"
HERE = Path(__file__).resolve().parent
#: Seconds that a rank waits, here; and those within which a program that gives up has ended.
PATIENCE, AT_ONCE, SOON = 2, 10, 20
#: Debian's name of it, as other launchers are called mpirun, too. tools/setup test brings it.
MPIRUN = "mpirun.openmpi"
MAGIC = 0x6C61646465723134

#: No socket can be made, or the second GPU has little memory free.
LACK = r"""
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool lacks(const char* what) { return strcmp(getenv("LACK"), what) == 0; }

extern "C" {
int cudaGetDevice(int*) __attribute__((weak));

int socket(int domain, int type, int protocol) {
  errno = EMFILE;
  if (lacks("sockets")) return -1;
  using Socket = int (*)(int, int, int);
  return reinterpret_cast<Socket>(dlsym(RTLD_NEXT, "socket"))(domain, type, protocol);
}
int cudaMemGetInfo(size_t* free, size_t* total) {
  int device = 0;
  if (lacks("memory")) cudaGetDevice(&device);
  using Ask = int (*)(size_t*, size_t*);
  const int status = reinterpret_cast<Ask>(dlsym(RTLD_NEXT, "cudaMemGetInfo"))(free, total);
  if (device == 1) *free = 65u << 20;
  return status;
}
}
"""

Done = subprocess.CompletedProcess[str]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


#: GPUs, and so ranks, of each machine that the launchers below stand for.
PER_MACHINE = 2


def torchrun(rank: int, size: int) -> dict[str, str]:
    local = str(rank % PER_MACHINE)
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": local}


def open_mpi(rank: int, size: int) -> dict[str, str]:
    names = ("RANK", "SIZE", "LOCAL_RANK")
    values = (rank, size, rank % PER_MACHINE)
    return {f"OMPI_COMM_WORLD_{n}": str(v) for n, v in zip(names, values, strict=True)}


def mpich(rank: int, size: int) -> dict[str, str]:
    """In an allocation of Slurm's it starts a process of its own on each machine, and those start
    the ranks, which inherit Slurm's numbers."""
    local = str(rank % PER_MACHINE)
    own = {"PMI_RANK": str(rank), "PMI_SIZE": str(size), "MPI_LOCALRANKID": local}
    return {**slurm(rank // PER_MACHINE, size // PER_MACHINE), **own}


def slurm(rank: int, size: int) -> dict[str, str]:
    return {
        "SLURM_PROCID": str(rank),
        "SLURM_STEP_NUM_TASKS": str(size),
        "SLURM_LOCALID": str(rank % PER_MACHINE),
    }


def slurm_pmi2(rank: int, size: int) -> dict[str, str]:
    """``srun --mpi=pmi2``, as it was seen to."""
    return {"PMI_RANK": str(rank), "PMI_SIZE": str(size), **slurm(rank, size)}


def environment(port: int, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(BUILD / "emulator/lib"),
        "MASTER_PORT": str(port),
        "BOOK_DEADLINE_S": str(PATIENCE),
        **more,
    }


def begin(settings: Mapping[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [program(CHAPTER), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(settings),
    )


def end(process: subprocess.Popen[str]) -> Done:
    try:
        out, error = process.communicate(timeout=60)
    finally:
        process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def run(
    size: int,
    *arguments: str,
    launcher: Callable[[int, int], dict[str, str]] = torchrun,
    arguments_of: Mapping[int, tuple[str, ...]] | None = None,
    settings_of: Mapping[int, dict[str, str]] | None = None,
    **settings: str,
) -> list[Done]:
    """All ranks, the last of them started first."""
    port = free_port()
    started = {
        rank: begin(
            environment(
                port, **launcher(rank, size), **settings, **(settings_of or {}).get(rank, {})
            ),
            *arguments,
            *(arguments_of or {}).get(rank, ()),
        )
        for rank in reversed(range(size))
    }
    return [end(started[rank]) for rank in range(size)]


def said(ranks: list[Done]) -> str:
    return "".join(f"{r}: {d.returncode}\n{d.stdout}{d.stderr}" for r, d in enumerate(ranks))


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stub") / "libnccl.so.2"
    headers = nvcc().resolve().parents[1] / "include"
    command = ["g++", "-std=c++20", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    command += ["-isystem", str(headers), "-o", str(path), str(HERE / "stub_nccl.cpp")]
    subprocess.run(command, check=True)
    return path


@pytest.fixture(scope="module")
def lack(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The program is told of a lack that there isn't, of the one that LACK names."""
    source = tmp_path_factory.mktemp("lack") / "lack.cpp"
    source.write_text(LACK, encoding="utf-8")
    path = source.with_suffix(".so")
    command = ["g++", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", str(path)]
    subprocess.run([*command, str(source), "-ldl"], check=True)
    return {"LD_PRELOAD": str(path)}


@pytest.fixture
def nccl(stub: Path, tmp_path: Path) -> dict[str, str]:
    return {"BOOK_NCCL": str(stub), "STUB_NCCL_FOLDER": str(tmp_path)}


# ------------------------------------------------------------------------------- who there is


@pytest.mark.parametrize("launcher", [torchrun, open_mpi, mpich, slurm, slurm_pmi2])
def test_any_launcher_will_do(launcher: Callable[[int, int], dict[str, str]]) -> None:
    ranks = run(3, "--n", "12345", launcher=launcher, EMU_DEVICES=str(PER_MACHINE))
    assert [rank.returncode for rank in ranks] == [0, 0, 0], said(ranks)
    assert all(f"\n{way}_3 " in ranks[0].stdout for way in ("host", "exact_host", "nothing"))
    assert "not for the GPUs of 3 processes" in ranks[0].stdout
    assert ranks[1].stdout == ranks[2].stdout == "", "rank 0 alone prints"


def mpirun(size: int, *command: str, **settings: str) -> Done:
    """Open MPI's launcher starts so many ranks of a command."""
    launcher = [MPIRUN, "--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "-n", str(size)]
    started = subprocess.Popen(
        [*launcher, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(free_port(), **settings),
    )
    return end(started)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_open_mpi_starts_them(size: int, nccl: dict[str, str]) -> None:
    ways = [f"{way}_{size}" for way in ("host", "all_reduce")]
    arguments = ["--n", "12345", "--variant", *ways]
    done = mpirun(size, str(program(CHAPTER)), *arguments, **nccl)
    assert done.returncode == 0, done.stdout + done.stderr
    # As many processes as were asked for, of which rank 0 alone prints.
    assert done.stdout.count("\nsum is 1572145\n") == 1, done.stdout + done.stderr
    assert all(f"\n{way} " in done.stdout for way in ways), done.stdout
    made = sorted(call for call in calls(nccl) if call.startswith("init"))
    assert made == [f"init {rank} of {size}" for rank in range(size)]


def test_open_mpi_is_told_of_ranks_that_do_not_do_the_same() -> None:
    # By a shell, as the mpirun of Debian 13 crashes when it is to start two commands at once.
    by_rank = 'exec "$0" --n $((1000 + OMPI_COMM_WORLD_RANK / 2))'
    done = mpirun(3, "sh", "-c", by_rank, str(program(CHAPTER)))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "ranks 0 and 2 do not do the same: rank 0: --n 1000" in done.stderr


def test_torchruns_own_store_keeps_its_port() -> None:
    with socket.socket() as store:
        store.bind(("127.0.0.1", 0))
        store.listen()
        port = store.getsockname()[1]
        started = [
            begin(environment(port, TORCHELASTIC_RUN_ID="none", **torchrun(rank, 2)), "--n", "1000")
            for rank in range(2)
        ]
        ranks = [end(process) for process in started]
    assert [rank.returncode for rank in ranks] == [0, 0], said(ranks)


@pytest.mark.parametrize("n", ["0", "1", "2", "31", "100003"])
@pytest.mark.parametrize("size", [2, 4])
def test_every_way_of_ranks(size: int, n: str, nccl: dict[str, str]) -> None:
    ranks = run(size, "--n", n, **nccl)
    assert [rank.returncode for rank in ranks] == [0] * size, said(ranks)
    if n != "0":
        for way in ("all_reduce", "reduce", "host", "exact_all_reduce", "exact_host"):
            assert f"\n{way}_{size} " in ranks[0].stdout, said(ranks)


@pytest.mark.parametrize("n", ["5", "100003"])
def test_more_of_them_than_one_process_has_gpus(n: str, nccl: dict[str, str]) -> None:
    ranks = run(9, "--n", n, **nccl)
    assert [rank.returncode for rank in ranks] == [0] * 9, said(ranks)
    for way in ("all_reduce", "reduce", "host", "last_host", "exact_all_reduce", "exact_host_wide"):
        assert f"\n{way}_9 " in ranks[0].stdout, said(ranks)


def test_a_place_that_cannot_be() -> None:
    done = end(begin(environment(1, RANK="2", WORLD_SIZE="2"), "--n", "10"))
    assert done.returncode == 2 and "RANK=2: below WORLD_SIZE, which is 2" in done.stderr
    done = end(begin(environment(1, RANK="x", WORLD_SIZE="2"), "--n", "10"))
    assert done.returncode == 2 and "RANK=x" in done.stderr
    done = end(begin({**environment(1, **torchrun(0, 2)), "BOOK_DEADLINE_S": "0"}, "--n", "10"))
    assert done.returncode == 2 and "BOOK_DEADLINE_S=0" in done.stderr


@pytest.mark.parametrize("size", ["0", "1", "2"])
def test_a_rank_that_is_not_among_so_many(size: str) -> None:
    done = end(begin(environment(1, RANK="2", WORLD_SIZE=size), "--n", "10"))
    assert done.returncode == 2 and f"RANK=2: below WORLD_SIZE, which is {size}" in done.stderr


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize(("port", "more"), [(0, {}), (65535, {"TORCHELASTIC_RUN_ID": "none"})])
def test_a_port_that_cannot_be(port: int, more: dict[str, str], rank: int) -> None:
    done = end(begin(environment(port, **torchrun(rank, 2), **more), "--n", "10"))
    assert done.returncode == 2, done.stderr
    assert f"MASTER_PORT={port}: there is no port {65536 if more else 0}" in done.stderr


def test_one_rank_is_alone() -> None:
    done = end(begin(environment(1, **torchrun(0, 1)), "--n", "1000", "--variant", "stores_2"))
    assert done.returncode == 0 and "stores_2" in done.stdout, done.stderr


# ------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("what", [("--n", "1001"), ("--n", "1000", "--seed", "1")])
def test_ranks_that_do_not_do_the_same(what: tuple[str, ...]) -> None:
    ranks = run(3, arguments_of={0: ("--n", "1000"), 1: ("--n", "1000"), 2: what})
    for rank, done in enumerate(ranks):
        assert done.returncode == 2, said(ranks)
        assert f"rank {rank}: ranks 0 and 2 do not do the same" in done.stderr
        assert "--n 1000" in done.stderr and " ".join(what) in done.stderr


def test_a_rank_that_never_comes() -> None:
    port = free_port()
    begun = time.monotonic()
    started = [begin(environment(port, **torchrun(rank, 3)), "--n", "1000") for rank in (0, 1)]
    ranks = [end(process) for process in started]
    assert time.monotonic() - begun < SOON
    for done in ranks:
        assert done.returncode == 3, said(ranks)
    assert "rank 2 has not come within 2 s (BOOK_DEADLINE_S)" in ranks[0].stderr
    assert "rank 0" in ranks[1].stderr


def test_a_rank_zero_that_never_comes() -> None:
    begun = time.monotonic()
    done = end(begin(environment(free_port(), **torchrun(1, 2)), "--n", "1000"))
    assert time.monotonic() - begun < SOON
    assert done.returncode == 3 and "rank 0 has not answered within 2 s" in done.stderr


def test_of_many_missing_ranks_the_first_are_named() -> None:
    done = end(begin(environment(free_port(), **torchrun(0, 65535)), "--n", "10"))
    assert done.returncode == 3
    assert "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 65526 more have not come" in done.stderr


def test_a_host_that_drops_packets() -> None:
    """As one does for a listener whose queue is full."""
    begun = time.monotonic()
    with ExitStack() as opened:
        first = opened.enter_context(socket.socket())
        first.bind(("127.0.0.1", 0))
        first.listen(0)
        for _ in range(4):
            peer = opened.enter_context(socket.socket())
            peer.setblocking(False)
            peer.connect_ex(first.getsockname())
        done = end(begin(environment(first.getsockname()[1], **torchrun(1, 2)), "--n", "10"))
    assert time.monotonic() - begun < SOON
    assert done.returncode == 3 and "rank 0 has not answered within 2 s" in done.stderr


@pytest.mark.parametrize("rank", [0, 1])
def test_without_sockets_a_rank_says_so_at_once(rank: int, lack: dict[str, str]) -> None:
    settings = environment(free_port(), **torchrun(rank, 2), **lack, LACK="sockets")
    done = end(begin(settings, "--n", "10"))
    assert done.returncode == 3, done.stderr
    assert f"rank {rank}: cannot make a socket: Too many open files" in done.stderr


def test_a_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = end(begin(environment(other.getsockname()[1], **torchrun(0, 2)), "--n", "10"))
    assert done.returncode == 3 and "MASTER_PORT names another" in done.stderr


def put(peer: socket.socket, data: bytes, kind: int = 1) -> None:
    peer.sendall(struct.pack("<II", kind, len(data)) + data)


def take(peer: socket.socket) -> bytes:
    def whole(size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = peer.recv(size - len(data))
            assert more, "it has ended"
            data += more
        return data

    _, size = struct.unpack("<II", whole(8))
    return whole(size)


@contextmanager
def as_last_of(size: int) -> Iterator[tuple[socket.socket, list[subprocess.Popen[str]]]]:
    """The test is the last rank of so many, which have all found each other."""
    port = free_port()
    started = [
        begin(environment(port, **torchrun(r, size)), "--n", "1000") for r in range(size - 1)
    ]
    last = time.monotonic() + AT_ONCE
    while True:
        try:
            peer = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            assert time.monotonic() < last
            time.sleep(0.05)
    with peer:
        peer.sendall(struct.pack("<QII", MAGIC, size - 1, size))
        take(peer)  # all are there
        yield peer, started


def pass_one(peer: socket.socket, size: int) -> None:
    """Says what rank 0 says, once."""
    put(peer, b"--n 1000 --seed 2018")
    for _ in range(size):
        take(peer)


@pytest.mark.parametrize("passed", [0, 1])
def test_a_rank_that_dies(passed: int) -> None:
    with as_last_of(3) as (peer, started):
        for _ in range(passed):
            pass_one(peer, 3)
        peer.close()
        begun = time.monotonic()
        ranks = [end(process) for process in started]
    assert time.monotonic() - begun < AT_ONCE
    for rank, done in enumerate(ranks):
        assert done.returncode == 3, said(ranks)
        assert f"rank {rank}: rank 2 has ended without a word" in done.stderr


def test_a_rank_that_says_nothing_more() -> None:
    with as_last_of(3) as (peer, started):
        pass_one(peer, 3)
        begun = time.monotonic()
        ranks = [end(process) for process in started]
    assert time.monotonic() - begun < SOON
    for done in ranks:
        assert done.returncode == 3, said(ranks)
        assert "rank 2 says nothing within 2 s (BOOK_DEADLINE_S)" in done.stderr


def test_a_rank_that_says_why_it_ends() -> None:
    with as_last_of(3) as (peer, started):
        put(peer, b"rank 2 stopped: its GPU is on fire", kind=2)
        ranks = [end(process) for process in started]
    for done in ranks:
        assert done.returncode == 3 and "rank 2 stopped: its GPU is on fire" in done.stderr


@pytest.mark.parametrize("hello", [b"GET / HTTP/1.1\r\n\r\n", b"", b"x" * 100])
def test_who_is_no_rank_is_let_go(hello: bytes) -> None:
    port = free_port()
    first = begin(environment(port, **torchrun(0, 2)), "--n", "1000")
    for _ in range(100):
        try:
            with socket.create_connection(("127.0.0.1", port)) as peer:
                peer.sendall(hello)
            break
        except OSError:
            time.sleep(0.05)
    second = begin(environment(port, **torchrun(1, 2)), "--n", "1000")
    ranks = [end(first), end(second)]
    assert [rank.returncode for rank in ranks] == [0, 0], said(ranks)


def test_two_of_one_rank() -> None:
    port = free_port()
    places = [torchrun(0, 3), torchrun(1, 3), torchrun(1, 3)]
    ranks = [end(p) for p in [begin(environment(port, **place), "--n", "10") for place in places]]
    assert all(done.returncode == 3 for done in ranks), said(ranks)
    assert "there are two of rank 1" in ranks[0].stderr


# --------------------------------------------------------------------------------------- NCCL


def calls(nccl: dict[str, str]) -> list[str]:
    return (Path(nccl["STUB_NCCL_FOLDER"]) / "calls").read_text(encoding="utf-8").splitlines()


def alone(variant: str, nccl: dict[str, str], **settings: str) -> Done:
    arguments = ("--n", "1000", "--variant", variant)
    return end(begin(environment(1, **nccl, **settings), *arguments))


def test_multicast_is_off_and_nothing_blocks(nccl: dict[str, str]) -> None:
    done = alone("all_reduce_3", nccl, NCCL_NVLS_ENABLE="1")
    assert done.returncode == 0, done.stderr
    assert calls(nccl) == [
        "multicast 0",
        *(f"init {r} of 3" for r in range(3)),
        *(f"abort {r}" for r in range(3)),
    ]


@pytest.mark.parametrize(
    ("fault", "status", "why"),
    [
        (
            "init-fails",
            3,
            "NCCL: ncclCommInitRankConfig: unhandled system error (as the test asked)",
        ),
        ("init-hangs", 3, "NCCL is not done within 2 s (BOOK_DEADLINE_S): ncclCommInitRankConfig"),
        ("call-fails", 3, "NCCL: ncclAllReduce: unhandled system error"),
        ("call-hangs", 3, "NCCL is not done within 2 s (BOOK_DEADLINE_S): ncclAllReduce"),
        ("remote-error", 3, "NCCL: ncclAllReduce: remote process exited"),
        ("forgets", 1, "WRONG RESULT: all_reduce_2"),
        ("old", 77, "NCCL is older than 2.14 (2700)"),
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_nccl_that_fails(
    fault: str, status: int, why: str, ranks: int, nccl: dict[str, str]
) -> None:
    begun = time.monotonic()
    if ranks == 1:
        done = [alone("all_reduce_2", nccl, STUB_NCCL=fault)]
    else:
        done = run(2, "--n", "1000", "--variant", "all_reduce_2", STUB_NCCL=fault, **nccl)
    assert time.monotonic() - begun < SOON
    assert [one.returncode for one in done] == [status] * ranks, said(done)
    assert any(why in one.stderr for one in done), said(done)
    if status == 3:
        assert "abort 0" in calls(nccl) or fault == "init-fails"


@pytest.mark.parametrize("fault", ["init-of-1-fails", "call-fails"])
def test_nothing_is_aborted_inside_a_group(fault: str, nccl: dict[str, str]) -> None:
    done = alone("all_reduce_2", nccl, STUB_NCCL=fault)
    assert done.returncode == 3, done.stderr
    aborts = [call for call in calls(nccl) if call.startswith("abort")]
    assert aborts == ["abort 0", "abort 1"][: len(aborts)] and aborts


@pytest.mark.parametrize("fault", ["init-fails", "call-fails"])
def test_one_rank_whose_nccl_fails_ends_all(fault: str, nccl: dict[str, str]) -> None:
    begun = time.monotonic()
    ranks = run(
        3,
        "--n",
        "1000",
        "--variant",
        "all_reduce_3",
        settings_of={1: {"STUB_NCCL": fault}},
        **nccl,
    )
    assert time.monotonic() - begun < SOON
    for done in ranks:
        assert done.returncode == 3, said(ranks)
    assert "rank 1: NCCL: " in ranks[1].stderr
    for rank in (0, 2):
        assert f"rank {rank}: rank 1 stopped: NCCL: " in ranks[rank].stderr, said(ranks)


def test_without_nccl_one_line_says_so(tmp_path: Path) -> None:
    done = alone("all_reduce_2", {"BOOK_NCCL": str(tmp_path / "libnccl.so.2")})
    assert done.returncode == 77 and "BOOK_NCCL: " in done.stderr
    done = end(begin(environment(1), "--n", "1000"))
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: left out")]
    assert done.returncode == 0 and len(notes) == 1 and "NCCL" in notes[0]


def test_with_fewer_gpus_one_line_says_so() -> None:
    done = end(begin(environment(1, EMU_DEVICES="2"), "--n", "1000"))
    assert done.returncode == 0 and "stores_2" in done.stdout and "\nstores_3 " not in done.stdout
    assert "for more GPUs than the 2 here" in done.stdout
    done = end(begin(environment(1, EMU_DEVICES="2"), "--n", "1000", "--variant", "host_3"))
    assert done.returncode == 77 and "for more GPUs than the 2 here" in done.stderr


@pytest.mark.parametrize("gpu", ["gpu:63"])
def test_a_gpu_that_is_not_there(gpu: str) -> None:
    done = end(begin(environment(1), "--device", gpu))
    assert done.returncode in (2, 77) and len(done.stderr.splitlines()) == 1


# ------------------------------------------------------------------------------------- memory


def test_shares_that_are_too_large_for_a_gpu(tmp_path: Path) -> None:
    """All elements on the last of five GPUs: a fifth of them would fit."""
    lines = tmp_path / "lines"
    lines.write_text("--n 30000000 --variant host_5_on_last\n", encoding="utf-8")
    done = subprocess.run(
        [BUILD / "chapters/tests/hard_spread_matrix", lines],
        capture_output=True,
        text=True,
        env=environment(1, EMU_MEMORY=str(100 * 10**6)),
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "--n 30 000 000: needs 114.4 MiB of device memory" in done.stdout + done.stderr


def test_another_gpu_without_room(lack: dict[str, str]) -> None:
    def done(*arguments: str) -> Done:
        return end(begin(environment(1, **lack, LACK="memory"), *arguments))

    assert done("--n", "1000", "--variant", "host_2").returncode == 0
    full = done("--n", "1000000", "--variant", "host_2")
    assert full.returncode == 2, full.stderr
    assert "GPU 1 has too little memory free for its share of n = 1000000" in full.stderr
    assert done("--n", "1000000", "--variant", "host_1").returncode == 0
