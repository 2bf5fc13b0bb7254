"""How a role or a directive says what it could not find."""

from __future__ import annotations

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from .strings import _

logger = logging.getLogger(__name__)


def not_yet(env: BuildEnvironment, what: str, location: str) -> nodes.inline:
    """A placeholder, while nothing has been recorded."""
    env.note_reread()
    logger.info("%s: not recorded yet: %s", location, what)
    return nodes.inline("", _("(not recorded yet)"), classes=["not-recorded"])


def lost(env: BuildEnvironment, what: str, message: str, location: str) -> nodes.problematic:
    """A warning (an error under -W) that names file, line and what was asked for."""
    env.note_reread()  # what is missing may appear in a file that this page does not know of
    logger.warning(message, location=location, type="ladder", subtype="lost")
    return nodes.problematic(what, what)
