"""A recording as one file: the same bytes each time, and nothing but a whole one is taken."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.records import columns, exported
from common.records.exported import BadExport, pack, unpack
from figures.tests import synthetic

pytestmark = pytest.mark.all


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small set. Tests leave it as it is."""
    made = tmp_path_factory.mktemp("sets") / "local"
    made.mkdir()
    data = synthetic.chapter_data("chapter01_gmem")
    data["runs"] = data["runs"][:3]
    columns.write(made / "chapter01_gmem.json", data)
    (made / "chapter01_gmem.txt").write_text("$ ./run\n2\u00b2\u2074\n", encoding="utf-8")
    return made


def packed(folder: Path, path: Path) -> Path:
    path.write_bytes(pack(folder))
    return path


def test_a_set_comes_back_as_it_was(folder: Path, tmp_path: Path) -> None:
    told = unpack(packed(folder, tmp_path / "x.json.gz"))
    assert (told.name, told.schema) == ("local", 3)
    told.write(tmp_path / "back")
    before, after = (
        {path.name: path.read_bytes() for path in each.iterdir()}
        for each in (folder, tmp_path / "back")
    )
    assert before == after and len(before) == 3


def test_the_same_set_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "local", copy_function=shutil.copyfile)
    assert pack(copy) == pack(folder)
    assert pack(folder)[4:8] == b"\0\0\0\0", "no time in its head"


def test_only_a_sets_own_files_go_in(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "local")
    for name in ("notes.txt", "key.json", "chapter01_gmem.json.new"):
        (copy / name).write_text("{}")
    assert pack(copy) == pack(folder)


def test_a_folder_without_times_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadExport, match="holds no recorded chapter"):
        pack(tmp_path)
    (tmp_path / "chapter01_gmem.json").write_text("{")
    with pytest.raises(BadExport, match=r"can't be read \("):
        pack(tmp_path)


def test_an_older_books_set_is_refused_with_what_renews_it(tmp_path: Path) -> None:
    older = {"schema": 2, "device": {"name": "a card"}, "runs": []}
    (tmp_path / "chapter01_gmem.json").write_text(json.dumps(older))
    with pytest.raises(BadExport, match="schema 2, and this book exports 3: measure again with t"):
        pack(tmp_path)


def changed(path: Path, edit: Callable[[dict[str, Any]], Any], *, sign: bool = True) -> Path:
    """An export with other contents, and the checksum that goes with them."""
    told = json.loads(gzip.decompress(path.read_bytes()))
    edit(told)
    if sign and isinstance(told["files"], dict):
        texts = all(isinstance(text, str) for text in told["files"].values())
        told["sha256"] = exported._checksum(told["files"]) if texts else ""
    path.write_bytes(gzip.compress(json.dumps(told).encode()))
    return path


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda told: told.update(format="x"), "is not an exported recording"),
        (lambda told: told.update(version=3), "was exported as version 3, and this book reads 2"),
        (
            lambda told: told.update(version=1),
            "version 1, and this book reads 2: it is of an older book; measure and export again",
        ),
        (lambda told: told.update(set="../../x"), "gives its set the name '../../x'"),
        (lambda told: told.update(set=["local"]), "gives its set the name"),
        (lambda told: told.update(files={}), "holds no files"),
        (lambda told: told.update(files=["chapter01_gmem.json"]), "holds no files"),
        (lambda told: told["files"].update({"../chapter01_gmem.json": ""}), "has no such file"),
        (lambda told: told["files"].update({"/etc/passwd": ""}), "has no such file"),
        (lambda told: told["files"].update({"chapter01_x/../y.json": ""}), "has no such file"),
        (lambda told: told["files"].update({"chapter01_x.py": ""}), "has no such file"),
        (lambda told: told["files"].update({"chapter01_x.json\n": ""}), "has no such file"),
        (lambda told: told["files"].update({"counters.json": {}}), "in a form other than text"),
    ],
)
def test_what_no_set_has_is_refused(
    folder: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], Any], said: str
) -> None:
    path = changed(packed(folder, tmp_path / "x.json.gz"), edit)
    with pytest.raises(BadExport, match=r"^[^\n]+$") as refused:
        unpack(path)
    assert said in str(refused.value)


def test_letters_that_are_none_are_refused(folder: Path, tmp_path: Path) -> None:
    path = packed(folder, tmp_path / "x.json.gz")
    changed(path, lambda told: told["files"].update({"counters.json": "\ud800"}), sign=False)
    with pytest.raises(BadExport, match="with letters that are none"):
        unpack(path)


def test_a_changed_number_is_noticed(folder: Path, tmp_path: Path) -> None:
    def faster(told: dict[str, Any]) -> None:
        text = told["files"]["chapter01_gmem.samples.gz"]
        told["files"]["chapter01_gmem.samples.gz"] = text.replace(" ", " 1", 1)

    path = changed(packed(folder, tmp_path / "x.json.gz"), faster, sign=False)
    with pytest.raises(BadExport, match="is damaged: its contents don't match its checksum"):
        unpack(path)


def _cut(whole: bytes) -> bytes:
    return whole[:-20]


def _flipped(whole: bytes) -> bytes:
    return whole[:200] + bytes([whole[200] ^ 0x55]) + whole[201:]


def _checksum_flipped(whole: bytes) -> bytes:
    return whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:]


def _empty(whole: bytes) -> bytes:
    return b""


def _plain(whole: bytes) -> bytes:
    return b"PK\x03\x04 a zip"


def _deep(whole: bytes) -> bytes:
    return gzip.compress(b"[" * 200_000)


def _a_list(whole: bytes) -> bytes:
    return gzip.compress(b"[]")


@pytest.mark.parametrize(
    "damage", [_cut, _flipped, _checksum_flipped, _empty, _plain, _deep, _a_list]
)
def test_a_damaged_file_is_refused_in_one_sentence(
    folder: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(damage(pack(folder)))
    with pytest.raises(BadExport, match=r"^[^\n]+$") as refused:
        unpack(path)
    assert str(refused.value).startswith(str(path))


def test_sizes_are_bounded(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(folder, tmp_path / "x.json.gz")
    with monkeypatch.context() as fewer:
        fewer.setattr(exported, "MOST_PACKED", 100)
        with pytest.raises(BadExport, match="is larger than 0 MiB"):
            unpack(path)
        with pytest.raises(BadExport, match="too large for one file"):
            pack(folder)
    with monkeypatch.context() as fewer:
        fewer.setattr(exported, "MOST_UNPACKED", 2**20)
        path.write_bytes(gzip.compress(b" " * 2**21))
        with pytest.raises(BadExport, match="unpacks to more than 1 MiB"):
            unpack(path)


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadExport, match="can't be read"):
        unpack(tmp_path / "none")
    with pytest.raises(BadExport, match="can't be read"):
        unpack(tmp_path)
