"""Which rules judge here: a digest of their source, so that a release with other rules judges anew what is stored.

The digest is taken of the code itself: a number to be raised by hand would be forgotten once, and lists would then say
something else than the comparison they lead to. That a mere comment causes a new count costs a worker some minutes.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from evalrunner import compare

SITE = (  # patterns of files below ``reports``
    "domain/attention.py",
    "domain/baselines.py",
    "domain/outcomes.py",
    "selectors/attempts.py",
    "selectors/baselines.py",
    "selectors/compare*.py",
    "selectors/definitions.py",
    "selectors/findings.py",
    "selectors/note*.py",
    "selectors/outcomes.py",
    "selectors/policies.py",
    "selectors/revision_facts.py",
    "selectors/run_changes.py",
    "selectors/run_verdicts.py",
)
REPORTS = Path(__file__).parents[1]


@cache
def rules_digest() -> str:
    """Return 16 hexadecimal digits that stand for the engine of comparisons and what of the site feeds it."""
    engine = sorted(Path(compare.__file__).parent.glob("*.py"))
    site = sorted(path for pattern in SITE for path in REPORTS.glob(pattern))
    taken = sha256()
    for path in (*engine, *site):
        taken.update(path.name.encode())
        taken.update(path.read_bytes())
    return taken.hexdigest()[:16]
