"""Claims: what a page says about recorded runs, held against every recording by the build.

``language`` reads a claim into ``statement``; ``lookup`` finds its runs in a recorded set, and
``evaluate`` holds one against the other; ``evidence`` does so for all sets; ``beside`` puts a claim
beside its sentence, and ``listed`` lists them all.
"""

from __future__ import annotations

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    from . import beside, listed

    beside.setup(app)
    listed.setup(app)
