"""Machine code listings: read from cuobjdump's text, kept, cut and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.records import machine_code
from common.records.machine_code import MachineCode, NoSuchCode

pytestmark = pytest.mark.all

CUOBJDUMP = """
\t\tFunction : _ZN9chapter034treeEPKi
\t.headerflags\t@"EF_CUDA_TEXMODE_UNIFIED"
        /*0000*/                   S2R R2, SR_TID.X ;                 /* 0x0000000000027919 */
                                                                       /* 0x000e220000002100 */
        /*0010*/              @!P0 BRA 0x50 ;                         /* 0x0000000000027919 */
        /*0020*/              @!P1 LDS R4, [R5] ;                     /* 0x0000000000027919 */
        /*0030*/                   VIADD R8, R8, 0xffffffff ;         /* 0x0000000000027919 */
        /*0040*/               @P0 BRA 0x20 ;                         /* 0x0000000000027919 */
        /*0050*/                   EXIT ;                             /* 0x0000000000027919 */
        /*0060*/                   BRA 0x60;                          /* 0x0000000000027919 */
        /*0070*/                   NOP;                               /* 0x0000000000027919 */
\t\tFunction : _ZN9chapter035emptyEv
        /*0000*/                   EXIT ;                             /* 0x0000000000027919 */
"""


@pytest.fixture
def code() -> machine_code.Code:
    return machine_code.parse(CUOBJDUMP)["_ZN9chapter034treeEPKi"]


def test_what_fills_the_end_is_left_out(code: machine_code.Code) -> None:
    assert [each.address for each in code] == [0, 16, 32, 48, 64, 80]
    assert code[-1].text == "EXIT"
    assert len(machine_code.parse(CUOBJDUMP)["_ZN9chapter035emptyEv"]) == 1


def test_an_instruction_knows_its_parts(code: machine_code.Code) -> None:
    assert [each.operation for each in code] == ["S2R", "BRA", "LDS", "VIADD", "BRA", "EXIT"]
    assert [each.predicated for each in code] == [False, True, True, False, True, False]
    assert [each.target for each in code] == [None, 0x50, None, None, 0x20, None]
    assert str(code[2]) == "/*0020*/  @!P1 LDS R4, [R5]"
    assert str(code[3]) == "/*0030*/        VIADD R8, R8, 0xffffffff"


def test_the_loop_is_found_by_its_way_back(code: machine_code.Code) -> None:
    assert [each.address for each in machine_code.loop(code)] == [0x20, 0x30, 0x40]
    with pytest.raises(NoSuchCode, match="no loop"):
        machine_code.loop(code[:2])


def test_an_extract_lies_between_two_patterns(code: machine_code.Code) -> None:
    assert [i.operation for i in machine_code.between(code, "LDS", "^@P0 BRA")] == [
        "LDS",
        "VIADD",
        "BRA",
    ]
    with pytest.raises(NoSuchCode, match="matches 'S2R'"):
        machine_code.between(code, "EXIT", "S2R")


def test_what_is_written_is_read_again(code: machine_code.Code, tmp_path: Path) -> None:
    kept = MachineCode("13.0.88", "sm_90", {"chapter03_divergence/tree": code})
    file = tmp_path / machine_code.FILE
    file.parent.mkdir(parents=True)
    file.write_text(kept.text(), encoding="utf-8")
    assert machine_code.load(tmp_path) == kept
    with pytest.raises(NoSuchCode, match="nearest: chapter03_divergence/tree"):
        kept.kernel("chapter03_divergence", "three")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": 2}', '{"schema": 1, "kernels": {"x": [1]}}']
)
def test_an_unsound_file_is_refused_by_name(text: str, tmp_path: Path) -> None:
    file = tmp_path / machine_code.FILE
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"machine_code\.json is unsound"):
        machine_code.load(tmp_path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"machine_code\.json cannot be read"):
        machine_code.load(tmp_path)
