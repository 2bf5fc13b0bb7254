"""tools/update, once there is a Python for it."""

import sys
from pathlib import Path

# The checkout in place of this folder.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from tools.updating.command import main  # noqa: E402  (needs the path above)

sys.exit(main())
