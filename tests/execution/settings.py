"""The settings of workers in tests: a lease runs out soon, so that nobody waits for it.

``EVALSITE_TESTS_LOCK_S`` shortens how long a statement waits for a locked SQLite file.
"""

import os

from evalsite.settings import *  # noqa: F403

EXECUTION_LEASE_S = 3.0
if wait_s := os.environ.get("EVALSITE_TESTS_LOCK_S"):
    DATABASES["default"]["OPTIONS"]["timeout"] = float(wait_s)  # noqa: F405
