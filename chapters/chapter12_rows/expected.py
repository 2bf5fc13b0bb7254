"""What the shared tests are to find in this chapter."""

from chapters.expected import Expected

EXPECTED = Expected(
    few_shapes=True,
    least=1,  # the shortest rows
    recorded_at=(40_000, 65_536),  # all that is compared has a row there
    wrong=(
        "maximum_from_zero", "maximum_without_nan", "argmax_any_tie", "moments_added_up",
        "moments_of_squares", "row_of_one_block", "softmax_without_maximum", "softmax_masked",
    ),
)  # fmt: skip
