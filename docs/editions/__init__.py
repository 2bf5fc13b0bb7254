"""The stories on paper and in e-readers: ``tools/guide --pdf`` and ``tools/guide --epub``.

``stories`` takes the pages of the rendered guide and makes them stand still, ``paper`` sets a PDF
of them, and ``ebook`` packs an EPUB. The notebooks and the rest of the lab stay on the web.
"""

TITLE = "The Reduction Ladder"
SUBTITLE = "CUDA performance from one sum"


class Failure(Exception):
    """What stands in the way, in words for whoever asked."""
