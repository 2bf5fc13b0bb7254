"""What the book may not type (`typed`, an error), and advice on the lines that a change touches.

`python -m docs.lint --since COMMIT` gives the advice: comparisons that nothing covers, and turns of
phrase that no native engineer would use. No test runs it.
"""

import sys
from pathlib import Path

# The guide's extension, which reads claims and words.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_ext"))
