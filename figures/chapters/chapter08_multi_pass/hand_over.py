"""Two blocks that hand over a sum and a ticket, with a fence and without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from figures.kit.canvas import GLOBAL_HUE, SHARED_HUE, arrow, canvas
from figures.kit.pictures import Picture, Table
from figures.kit.style import Theme

#: How long it takes until what a block sends has arrived in the L2: its sum here, a ticket there.
SUM_TAKES, TICKET_TAKES = 8.8, 1.2
#: When block 1 sends its ticket. Its own sum has long arrived.
BLOCK_1_DRAWS = 3.7
#: From an answer in the L2 until the block that waits for it has read the sums.
READ_TAKES = 2.4

LETTERS_PT = 13.2


@dataclass(frozen=True)
class HandOver:
    """What happens when block 0 sends its sum at time 0 and its ticket after it."""

    fenced: bool
    sum_arrives: float
    #: When each block's ticket is sent, and when it arrives.
    sent: tuple[float, float]
    drawn: tuple[float, float]

    @property
    def last(self) -> int:
        """The block whose ticket arrives last: it adds up."""
        return int(self.drawn[1] > self.drawn[0])

    @property
    def read_at(self) -> float:
        return self.drawn[self.last] + READ_TAKES

    @property
    def right(self) -> bool:
        """Whether the last block finds block 0's sum in place."""
        return self.last == 0 or self.read_at >= self.sum_arrives


def hand_over(*, fenced: bool, sum_takes: float = SUM_TAKES) -> HandOver:
    """The fence holds the ticket back until the sum has arrived."""
    ticket = sum_takes + 0.6 if fenced else 1.7
    sent = (ticket, BLOCK_1_DRAWS)
    drawn = (ticket + TICKET_TAKES, BLOCK_1_DRAWS + TICKET_TAKES)
    return HandOver(fenced, sum_takes, sent, drawn)


BLOCK_0, SUM, TICKETS, BLOCK_1 = 4.5, 3.0, 1.8, 0.3  # the rows' heights
END, TALL = 15.2, 0.78


def _box(axes: Axes, theme: Theme, x: float, y: float, width: float, text: str, hue: str) -> None:
    axes.add_patch(Rectangle((x, y - TALL / 2), width, TALL, facecolor=theme.tint(hue, 0.75),
                             edgecolor=theme.drawn(hue), linewidth=1.4, zorder=3))  # fmt: skip
    axes.text(x + width / 2, y, text, ha="center", va="center", fontsize=LETTERS_PT, zorder=4)


def _panel(axes: Axes, theme: Theme, scene: HandOver, base: float) -> None:
    def row(y: float) -> float:
        return base + y

    letters: dict[str, Any] = {"fontsize": LETTERS_PT, "va": "center"}
    for y, name in ((BLOCK_0, "block 0"), (SUM, "its sum"), (TICKETS, "tickets"),
                    (BLOCK_1, "block 1")):  # fmt: skip
        axes.text(-0.25, row(y), name, ha="right", color=theme.muted, **letters)
    _box(axes, theme, 0, row(SUM), scene.sum_arrives, "old", GLOBAL_HUE)
    _box(axes, theme, scene.sum_arrives, row(SUM), END - scene.sum_arrives, "new", "green")
    first, second = sorted(scene.drawn)
    for count, (start, end) in enumerate(((0, first), (first, second), (second, END))):
        _box(axes, theme, start, row(TICKETS), end - start, str(count), SHARED_HUE)

    def sends(x: float, start: float, at: float, end: float) -> None:
        up = -1 if end < start else 1
        arrow(axes, theme, (x, row(start) + up * TALL / 2), (at, row(end) - up * TALL / 2),
              theme.ink, 1.6)  # fmt: skip

    _box(axes, theme, 0, row(BLOCK_0), 1.5, "sum", GLOBAL_HUE)
    sends(0.7, BLOCK_0, scene.sum_arrives, SUM)
    if scene.fenced:
        _box(axes, theme, 1.6, row(BLOCK_0), scene.sent[0] - 1.7, "fence: waits", "green")
    for block, y in ((0, BLOCK_0), (1, BLOCK_1)):
        start = scene.sent[block]
        _box(axes, theme, start - 0.1, row(y), 2.2, "ticket", SHARED_HUE)
        sends(start + 0.4, y, scene.drawn[block], TICKETS)
    said: list[tuple[float, float, str, bool]]
    if scene.last == 1:
        reads = scene.drawn[1] + 1.2
        _box(axes, theme, reads, row(BLOCK_1), 2.0, "reads", GLOBAL_HUE)
        sends(reads + 0.4, BLOCK_1, scene.read_at, SUM)
        said = [(BLOCK_1, reads + 2.3, "right" if scene.right else "finds an old sum", scene.right)]
    else:
        after = scene.sent[0] + 2.4
        said = [
            (BLOCK_0, after, "last: right", True),
            (BLOCK_1, BLOCK_1_DRAWS + 2.4, "not the last: leaves", True),
        ]
    for y, x, text, fine in said:
        axes.text(x, row(y), text, ha="left", weight="normal" if fine else "bold",
                  color=theme.ink if fine else theme.written(GLOBAL_HUE), **letters)  # fmt: skip


def missing_fence() -> Picture:
    """The ticket overtakes the sum, unless a fence holds it back."""
    without, fenced = hand_over(fenced=False), hand_over(fenced=True)
    assert without.last == 1 and not without.right and fenced.right

    def draw(theme: Theme) -> Figure:
        figure, axes = canvas(1, 1, 5.2)
        axes.set_xlim(-3.0, END + 0.05)
        axes.set_ylim(-0.3, 12.7)
        for base, title, scene in ((6.6, "Without the fence", without), (0, "With it", fenced)):
            axes.text(-3.0, base + 5.55, title, fontsize=LETTERS_PT, weight="bold", va="center")
            _panel(axes, theme, scene, base)
        return figure

    def line(scene: HandOver) -> list[Any]:
        return [
            "with" if scene.fenced else "without",
            scene.sum_arrives,
            *scene.drawn,
            scene.last,
            "new" if scene.right else "old",
        ]

    return Picture(
        draw=draw,
        alt=(
            "Block 0 sends its sum and then its ticket. Without a fence the ticket overtakes the "
            "sum: block 1 draws the last ticket, reads the sums, and finds an old value where "
            "block 0's sum is still to come. With the fence block 0's ticket waits until its sum "
            "has arrived. Then block 0 draws the last ticket and finds both sums."
        ),
        caption=(
            "An order that the hardware may choose: time runs to the right, the two bars in the "
            "middle are what the L2 holds, and arrows are on their way to it or from it."
        ),
        table=Table(
            ["fence", "the sum arrives at", "block 0's ticket at", "block 1's ticket at",
             "last block", "block 0's sum as it is read"],
            [line(without), line(fenced)],
        ),
    )  # fmt: skip
