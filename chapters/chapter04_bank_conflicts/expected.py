"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    MISALIGNED,
    Expected,
)

EXPECTED = Expected(
    findings={
        "tile_misaligned": {
            (
                MISALIGNED,
                "const float4 q = *reinterpret_cast<const float4*>(cols + Layout::at(x, k));",
            ): {(33, 1024), (100, 1024)},
        },
    },
    checked=(100, 1000),  # rows of matrices
    apart=128,  # rows: 16 blocks, of which the device runs eight at a time
    shown=("stride_walk",),
    instances={
        "tile": ("product<chapter04::Plain>", "7productINS_5PlainEfE"),
        "tile_padded": ("product<chapter04::Padded>", "7productINS_6PaddedEfE"),
        "tile_padded4": ("product<chapter04::PaddedBy4>", "7productINS_9PaddedBy4EfE"),
        "tile_swizzled": ("product<chapter04::Swizzled>", "7productINS_8SwizzledEfE"),
        "tile_swizzled4": ("product_by_4<chapter04::SwizzledBy4>", "12product_by_4INS_11Swi"),
        "tile_as_written": ("product<chapter04::Plain, volatile float>", "5PlainEVfE"),
    },
    inferred=("tile", "tile_padded", "tile_padded4", "tile_swizzled"),
    inferred_kernels=("7productINS_",),
)
