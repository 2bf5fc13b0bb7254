"""What is cut out of a program's PTX for a page."""

from __future__ import annotations

import pytest

from tools.measuring import Failure, ptx

pytestmark = pytest.mark.all

TEXT = """

.version 9.0
.target sm_90
.address_size 64

.extern .shared .align 16 .b8 tile[];
.global .align 4 .u32 table[2] = {1, 2};
.visible .func  (.param .b32 retval) helper(
.param .b32 helper_param_0
)
{
// a brace in a comment: {
ld.param.u32 %r1, [helper_param_0];
ret;
}
.visible .entry _Z5firstPi(
.param .u64 _Z5firstPi_param_0
)
.maxntid 256, 1, 1
{
.reg .b32 %r<3>;
.loc\t1 12 3

{ // callseq 0
call.uni (retval0), helper, (param0);
} // callseq 0
mov.u32 %r2, table;
.loc\t2 110 3, function_name $L__info_string0, inlined_at 1 60 3
ret;

}
.visible .entry _Z6secondv()
{
mov.u32 %r1, tile;
ret;
}
.file\t1 "/home/reader/ladder/chapters/chapter05_unroll4/../chapter02_smem/kernels.cuh", 17, 4
.file\t2 "/usr/local/cuda/include/sm_30_intrinsics.hpp"
.section\t.debug_str
{
$L__info_string0:
.b8 95,90,0

}
.version 9.0
.target sm_90
.address_size 64
.visible .entry _Z5otherv()
{
ret;
}
"""


def test_a_kernel_brings_what_it_refers_to() -> None:
    cut = ptx.cut(TEXT, ["_Z5firstPi"])
    assert cut["head"] == ".version 9.0\n.target sm_90\n.address_size 64"
    assert list(cut["items"]) == ["table", "helper", "_Z5firstPi"]
    assert cut["uses"] == {"_Z5firstPi": ["table", "helper", "_Z5firstPi"]}
    assert ptx.cut(TEXT, ["_Z6secondv"])["uses"] == {"_Z6secondv": ["tile", "_Z6secondv"]}


def test_lines_lead_to_the_books_files() -> None:
    cut = ptx.cut(TEXT, ["_Z5firstPi"])
    assert cut["files"] == (
        '.file 1 "chapters/chapter02_smem/kernels.cuh"\n.file 2 "sm_30_intrinsics.hpp"'
    )
    kernel = cut["items"]["_Z5firstPi"]
    assert ".loc\t2 110 3, inlined_at 1 60 3" in kernel and "info_string" not in kernel
    assert kernel.startswith(".visible .entry _Z5firstPi(\n") and kernel.endswith("ret;\n}")
    assert ".maxntid 256, 1, 1" in kernel


def test_a_kernel_of_another_module_is_cut_from_that() -> None:
    assert list(ptx.cut(TEXT, ["_Z5otherv"])["items"]) == ["_Z5otherv"]
    with pytest.raises(Failure, match="several modules"):
        ptx.cut(TEXT, ["_Z5otherv", "_Z6secondv"])


def test_a_kernel_that_is_not_there_is_told() -> None:
    with pytest.raises(Failure, match="no _Z5thirdv: tools/measure --record embedded"):
        ptx.cut(TEXT, ["_Z5thirdv", "_Z6secondv"])


def test_the_hash_is_of_all_that_is_shipped() -> None:
    hashes = {
        ptx.cut(text, ["_Z5firstPi"])["hash"]
        for text in (
            TEXT,
            TEXT.replace("mov.u32 %r2, table", "mov.u32 %r2, tile"),
            TEXT.replace(".loc\t1 12 3", ".loc\t1 13 3"),
            TEXT.replace("{1, 2}", "{1, 3}"),
            TEXT.replace("sm_90", "sm_75"),
            TEXT.replace("sm_30_intrinsics", "sm_32_intrinsics"),
        )
    }
    assert len(hashes) == 6
    assert ptx.cut(TEXT.replace("/home/reader", "/opt"), ["_Z5firstPi"])["hash"] in hashes
