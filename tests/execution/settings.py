"""The settings of workers in tests: a lease runs out soon, so that nobody waits for it."""

from evalsite.settings import *  # noqa: F403

EXECUTION_LEASE_S = 3.0
