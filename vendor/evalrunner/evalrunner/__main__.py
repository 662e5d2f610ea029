"""``python -m evalrunner`` is the command ``evalrunner``."""

import sys

from evalrunner.cli import main

if __name__ == "__main__":
    sys.exit(main())
