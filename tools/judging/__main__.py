"""tools/judge, once there is a Python for it."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])  # the checkout in place of this folder

from tools.terminal import run  # noqa: E402  (needs the path above)

run("tools/judge", "tools.judging.command")
