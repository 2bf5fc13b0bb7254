import sys

from tools.mutating.command import main

sys.exit(main())
