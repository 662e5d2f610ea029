"""The tutorial: a small scripted catalogue that is evaluated without a model.

``python -m evalrunner.examples.catalogue`` runs it. ``target`` is what an operator registers (see
``evalrunner.targets``): the same agent in two versions, of which ``wrong-selection`` stores the second product when the
user asks for the first.
"""

from importlib import resources
from pathlib import Path

from evalrunner.examples.catalogue.agent import CatalogueAdapter, CatalogueSession
from evalrunner.examples.catalogue.evaluators import evaluators
from evalrunner.targets import RunnableTarget

CORRECT_SELECTION = "correct-selection"
WRONG_SELECTION = "wrong-selection"

suite_file: Path = Path(str(resources.files(__name__))) / "evaluation.suite.json"


def make_adapter(fingerprint: str, *, latency_ms: int = 0) -> CatalogueAdapter:
    """Make the agent of one version; ``latency_ms`` is how long each turn takes, so that a run can be watched."""
    return CatalogueAdapter(wrong_selection=fingerprint == WRONG_SELECTION, latency_ms=latency_ms)


target = RunnableTarget(
    id="tutorial.catalogue",
    fingerprints=(CORRECT_SELECTION, WRONG_SELECTION),
    make_adapter=make_adapter,
    evaluators=evaluators,
)

__all__ = [
    "CORRECT_SELECTION",
    "WRONG_SELECTION",
    "CatalogueAdapter",
    "CatalogueSession",
    "evaluators",
    "make_adapter",
    "suite_file",
    "target",
]
