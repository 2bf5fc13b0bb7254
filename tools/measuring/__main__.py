"""tools/measure, once there is a Python for it."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])  # the checkout in place of this folder

from tools.measuring.measure import main  # noqa: E402  (needs the path above)

sys.exit(main())
