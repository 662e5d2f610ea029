"""Runnable targets: what a host registers once, so that others can start runs of it by name.

A command line names one as ``module:object``; a site lists them in its configuration. Either way the object is code of
the host: nothing here is built from what a suite, a report or a browser says.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evalrunner.adapters.base import EvaluationAdapter
from evalrunner.assertions import Evaluators
from evalrunner.errors import AdapterSetupError


@dataclass(frozen=True)
class RunnableTarget:
    """One target with the versions that can be run.

    ``make_adapter`` gets a fingerprint and gives the adapter that reaches that version. ``fingerprints`` lists the
    known ones, the default first; without any, every fingerprint is taken. ``evaluators`` are those its suites name.
    """

    id: str
    make_adapter: Callable[[str], EvaluationAdapter]
    fingerprints: tuple[str, ...] = ()
    evaluators: Evaluators = field(default_factory=dict)

    def adapter(self, fingerprint: str) -> EvaluationAdapter:
        """Make the adapter of one version; AdapterSetupError names the known ones if this is none of them."""
        if self.fingerprints and fingerprint not in self.fingerprints:
            known = ", ".join(self.fingerprints)
            raise AdapterSetupError(f"{self.id} has no version {fingerprint!r}; it has {known}")
        return self.make_adapter(fingerprint)


def load_object(reference: str, *, folder: Path | None = None) -> object:
    """Import what ``module:object`` names (dots reach into the object); AdapterSetupError says what is missing.

    ``folder`` is looked into first, as Python does for a script that lies there.
    """
    module_name, colon, attribute = reference.partition(":")
    if not (module_name and colon and attribute):
        raise AdapterSetupError(f"{reference!r} is not of the form module:object")
    found: object = _import(module_name, folder)
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise AdapterSetupError(f"module {module_name!r} has no object {attribute!r}")
        found = getattr(found, name)
    return found


def _import(name: str, folder: Path | None) -> object:
    if folder is not None and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    except (
        Exception,
        SystemExit,
    ) as error:  # the host's code runs here; whatever it raises means that it cannot be used
        raise AdapterSetupError(f"module {name!r} cannot be imported: {type(error).__name__}: {error}") from error
