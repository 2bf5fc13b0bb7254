"""tools/compare, once there is a Python for it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The checkout in place of this folder, and the guide's extension, which holds claims.
sys.path[0:1] = [str(ROOT), str(ROOT / "docs" / "_ext")]

from tools.terminal import run  # noqa: E402  (needs the path above)

run("tools/compare", "tools.comparing.command")
