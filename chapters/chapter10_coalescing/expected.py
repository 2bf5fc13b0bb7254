"""What the shared tests are to find in this chapter."""

from chapters.expected import (
    BLOCKS,
    EVERYWHERE,
    ILLEGAL,
    MISALIGNED,
    NS,
    Expected,
)

WORDS_OUT = "reinterpret_cast<int4*>(out)[i]"

EXPECTED = Expected(
    few_shapes=True,
    findings={
        "offset_words": {
            (
                MISALIGNED,
                f"{WORDS_OUT} = reinterpret_cast<const int4*>(in + offset)[i];",
            ): EVERYWHERE,
        },
        "rounded_up": {
            # Where n is a multiple of 4, nothing is rounded.
            (ILLEGAL, f"{WORDS_OUT} = reinterpret_cast<const int4*>(in)[i];"): {
                (NS[1], block) for block in BLOCKS
            },
        },
    },
)
