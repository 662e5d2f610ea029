"""One registered target: what may be asked of it and how its adapter is made."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, cast

from evalrunner.adapters.base import EvaluationAdapter
from evalrunner.adapters.command import CommandAdapter
from evalrunner.adapters.http import HttpAdapter
from evalrunner.assertions import Evaluators
from evalrunner.errors import AdapterSetupError
from evalrunner.targets import RunnableTarget, load_object

from reports.domain.run_options import MAX_SHARDS

FINGERPRINT_COMMAND_S = 15.0
LONGEST_FINGERPRINT = 500  # characters


class TargetUnusable(Exception):
    """A registered target cannot be run as it stands; the text is a sentence for whoever registered it."""


@dataclass(frozen=True)
class TargetLimits:
    """The most that a run may ask of a target.

    ``concurrency`` holds in each shard, ``lanes`` in all of them together: a concurrency that the operator has set
    bounds both. ``minutes`` bounds a whole run; None: as long as it takes.
    """

    concurrency: int = 32
    shards: int = MAX_SHARDS
    lanes: int = 32 * MAX_SHARDS
    repetitions: int = 100
    cases: int = 100_000
    timeout_ms: int = 3_600_000
    minutes: int | None = None


@dataclass(frozen=True)
class FingerprintSource:
    """How the exact version of a target is found.

    ``fixed``: one of ``values``, the default first. ``asked``: whoever starts the run says it. ``command``: what a
    program prints. ``env``: what an environment variable holds.
    """

    kind: Literal["fixed", "asked", "command", "env"]
    values: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    variable: str = ""

    def find(self, asked: str, *, folder: Path) -> str:
        """Return the fingerprint of a run that asks for ``asked`` ("" leaves the choice); TargetUnusable if none."""
        match self.kind:
            case "fixed":
                return self._chosen(asked)
            case "asked":
                return asked
            case "command":
                return _first_line(self.command, folder)
            case "env":
                return _variable(self.variable)

    def _chosen(self, asked: str) -> str:
        if asked and asked not in self.values:
            raise TargetUnusable(f"there is no version {asked!r}; choose one of {', '.join(self.values)}")
        return asked or self.values[0]


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise TargetUnusable(f"the environment variable {name}, which holds the fingerprint, is not set")
    return value


def _first_line(command: tuple[str, ...], folder: Path) -> str:
    """Return the first line that a program prints; it gets ``FINGERPRINT_COMMAND_S`` seconds and no input."""
    name = command[0]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FINGERPRINT_COMMAND_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetUnusable(f"the program {name!r} gives no fingerprint: {type(error).__name__}") from error
    if done.returncode != 0:
        raise TargetUnusable(f"the program {name!r}, which gives the fingerprint, ended with status {done.returncode}")
    line = done.stdout.decode("utf-8", "replace").strip().partition("\n")[0].strip()
    if not line:
        raise TargetUnusable(f"the program {name!r} printed no fingerprint")
    return line[:LONGEST_FINGERPRINT]


class Maker(Protocol):
    """How one kind of target is reached."""

    def make(self, fingerprint: str) -> RunnableAdapter:
        """Give the adapter of one version with the evaluators; AdapterSetupError says why it cannot."""

    def known_evaluators(self) -> Collection[str] | None:
        """Return the ids of the evaluators; None where they are not known before a module of theirs is imported."""


@dataclass(frozen=True)
class RunnableAdapter:
    adapter: EvaluationAdapter
    evaluators: Evaluators


@dataclass(frozen=True)
class TargetEntry:
    """A target as the operator registered it.

    ``name`` is what a request calls it, ``target_id`` the report's ``target.id``. ``suites`` are files it offers.
    ``source`` is None where a Python object itself lists its versions. ``folder`` is that of the targets file:
    relative paths begin there.
    """

    name: str
    title: str
    target_id: str
    kind: str
    maker: Maker
    source: FingerprintSource | None
    folder: Path
    suites: tuple[Path, ...] = ()
    limits: TargetLimits = field(default_factory=TargetLimits)
    allows_external_writes: bool = False

    def fingerprint_source(self) -> FingerprintSource:
        """Return how the version is found; TargetUnusable where a Python object that should say so cannot be used."""
        if self.source is not None:
            return self.source
        known = self._listed_fingerprints()
        return FingerprintSource("fixed", values=known) if known else FingerprintSource("asked")

    def find_fingerprint(self, asked: str) -> str:
        """Return the exact version that a run evaluates now; TargetUnusable says why there is none."""
        return self.fingerprint_source().find(asked, folder=self.folder)

    def make(self, fingerprint: str) -> RunnableAdapter:
        """Make what reaches the target; TargetUnusable says why it cannot be made."""
        try:
            return self.maker.make(fingerprint)
        except AdapterSetupError as error:
            raise TargetUnusable(str(error)) from error

    def known_evaluators(self) -> Collection[str] | None:
        """Return the ids of the evaluators; None where host code would have to run that the version does not need."""
        if isinstance(self.maker, PythonMaker) and self.source is not None:
            return None
        try:
            return self.maker.known_evaluators()
        except AdapterSetupError:  # said where the version is looked for
            return None

    def _listed_fingerprints(self) -> tuple[str, ...]:
        try:
            return self.maker.fingerprints() if isinstance(self.maker, PythonMaker) else ()
        except AdapterSetupError as error:
            raise TargetUnusable(str(error)) from error


@dataclass(frozen=True)
class PythonMaker:
    """``named`` is (or names) a RunnableTarget, an adapter, or a function that makes one for a fingerprint."""

    named: str | RunnableTarget
    evaluators: str
    folder: Path

    def make(self, fingerprint: str) -> RunnableAdapter:
        found = self._load()
        extra = load_evaluators(self.evaluators, self.folder)
        if isinstance(found, RunnableTarget):
            adapter = self._called(found.adapter, fingerprint)
            return RunnableAdapter(cast(EvaluationAdapter, adapter), {**found.evaluators, **extra})
        adapter = found if hasattr(found, "open") and not isinstance(found, type) else self._called(found, fingerprint)
        if not callable(getattr(adapter, "open", None)):
            raise AdapterSetupError(f"{self.named!r} gives no adapter: it has no function open")
        return RunnableAdapter(cast(EvaluationAdapter, adapter), extra)  # the runner checks id and version

    def fingerprints(self) -> tuple[str, ...]:
        found = self._load()
        return found.fingerprints if isinstance(found, RunnableTarget) else ()

    def known_evaluators(self) -> Collection[str] | None:
        if self.evaluators:
            return None
        found = self._load()
        return found.evaluators if isinstance(found, RunnableTarget) else ()

    def _load(self) -> object:
        return load_object(self.named, folder=self.folder) if isinstance(self.named, str) else self.named

    def _called(self, factory: object, fingerprint: str) -> object:
        if not callable(factory):
            raise AdapterSetupError(f"{self.named!r} is neither an adapter nor a function that makes one")
        try:
            return factory(fingerprint)
        except AdapterSetupError:
            raise
        except Exception as error:  # isolation point: the host's code runs here; its message may hold a secret
            raise AdapterSetupError(f"{self.named!r} raised {type(error).__name__}") from error


@dataclass(frozen=True)
class HttpMaker:
    url: str
    headers: Mapping[str, str]
    supports_resume: bool
    evaluators: str
    folder: Path

    def make(self, fingerprint: str) -> RunnableAdapter:
        adapter = HttpAdapter(self.url, headers_from_env=self.headers, supports_resume=self.supports_resume)
        return RunnableAdapter(adapter, load_evaluators(self.evaluators, self.folder))

    def known_evaluators(self) -> Collection[str] | None:
        return None if self.evaluators else ()


@dataclass(frozen=True)
class CommandMaker:
    argv: tuple[str, ...]
    environment: tuple[str, ...]
    supports_resume: bool
    evaluators: str
    folder: Path

    def make(self, fingerprint: str) -> RunnableAdapter:
        adapter = CommandAdapter(
            self.argv,
            pass_environment=self.environment,
            folder=self.folder,
            supports_resume=self.supports_resume,
        )
        return RunnableAdapter(adapter, load_evaluators(self.evaluators, self.folder))

    def known_evaluators(self) -> Collection[str] | None:
        return None if self.evaluators else ()


def load_evaluators(reference: str, folder: Path) -> Evaluators:
    """Import a mapping from evaluator id to function; an empty reference gives none."""
    if not reference:
        return {}
    found = load_object(reference, folder=folder)
    if not isinstance(found, Mapping):
        raise AdapterSetupError(f"{reference!r} is no mapping from evaluator id to function")
    return found
