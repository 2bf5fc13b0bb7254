"""The extension's own words, through Sphinx's message catalogues.

``_`` translates when a page is read, so a translation only needs a catalogue
``locale/LANGUAGE/LC_MESSAGES/ladder.mo`` beside this file (README.md says how to make one).
"""

from __future__ import annotations

from pathlib import Path

from sphinx.locale import get_translation

CATALOGUE = "ladder"
LOCALE_DIR = Path(__file__).parent / "locale"

_ = get_translation(CATALOGUE)
