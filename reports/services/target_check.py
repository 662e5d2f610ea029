"""Trying a registered target out: its suites, its version, its adapter, and one conversation opened and closed."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from evalrunner.adapters.base import OpenContext
from evalrunner.data import freeze_object
from evalrunner.errors import EvaluationError
from evalrunner.models import EvaluationScenario, EvaluationStep, WritePolicy

from reports.domain.evaluators import missing_words
from reports.domain.harness.options import faults_of_rows
from reports.domain.harness.suites import scenarios_of
from reports.domain.run_options import RequestRefused
from reports.domain.wording import counted
from reports.runnable import TargetEntry, TargetsFileError, TargetUnusable, runnable_targets
from reports.runnable.entries import RunnableAdapter
from reports.runnable.harness import HarnessMaker
from reports.services.event_loop import run_to_end
from reports.services.run_suites import offered_suite

SESSION_S = 30.0
ASKED = "check"


@dataclass(frozen=True)
class Finding:
    """One thing that was tried: whether it works, and a sentence."""

    is_sound: bool
    sentence: str


def check_target(entry: TargetEntry, *, opens_session: bool) -> Iterator[Finding]:
    """Yield what works and what does not, in the order in which a run needs it."""
    yield from (_check_suite(entry, place) for place in range(len(entry.suites)))
    try:
        source = entry.fingerprint_source()
        fingerprint = entry.find_fingerprint(ASKED if source.kind == "asked" else "")
        said = "its version is asked for" if source.kind == "asked" else f"its version is {fingerprint!r}"
        yield Finding(True, said)
        if isinstance(entry.maker, HarnessMaker):
            yield from _check_harness(entry, entry.maker)
            return
        reach = entry.make(fingerprint)
    except TargetUnusable as error:
        yield Finding(False, str(error))
        return
    yield Finding(
        True, f"adapter {reach.adapter.id} {reach.adapter.version}, {counted(len(reach.evaluators), 'evaluator')}"
    )
    yield from (Finding(False, sentence) for sentence in missing_sentences(entry, reach.evaluators))
    if opens_session:
        yield _check_session(entry, reach)


def missing_sentences(entry: TargetEntry, known: Collection[str]) -> Iterator[str]:
    """Say for each offered suite which evaluators it asks for that are not ``known``: its runs would be rejected."""
    for place, path in enumerate(entry.suites):
        try:
            words = missing_words(offered_suite(entry, place), known)
        except RequestRefused:
            continue  # said before
        if words:
            yield f"the suite {path.name} {words}"


def unusable_suites(target_id: str) -> Iterator[str]:
    """Say of the registered targets that report this id what their suites lack, as far as that is known at once."""
    try:
        entries = runnable_targets()
    except TargetsFileError:
        return  # said where runs are started
    for entry in entries:
        known = entry.known_evaluators() if entry.target_id == target_id else None
        if known is not None:
            yield from (
                f"Registered as {entry.name}: {each}, so a run of it is refused."
                for each in missing_sentences(entry, known)
            )


def _check_harness(entry: TargetEntry, maker: HarnessMaker) -> Iterator[Finding]:
    """Say which profiles answer, and which rows ask for more than the target allows. Raises TargetUnusable."""
    allowed = maker.allowed()
    yield Finding(True, f"profiles {', '.join(allowed.profiles)}; tools {', '.join(maker.all_tools)}")
    for place, path in enumerate(entry.suites):
        try:
            faults = faults_of_rows(scenarios_of(offered_suite(entry, place)).values(), allowed)
        except RequestRefused:
            continue  # said before
        yield from (Finding(False, f"{path.name}: {fault}") for fault in faults)


def _check_suite(entry: TargetEntry, place: int) -> Finding:
    path = entry.suites[place]
    try:
        suite = offered_suite(entry, place)
    except RequestRefused as refused:
        first = refused.refusals[0]
        places = f" at {', '.join(first.paths)}" if first.paths else ""
        return Finding(False, f"suite {path}: {first.sentence} {first.code}{places}")
    return Finding(True, f"suite {path}: {suite.id}, {counted(len(suite.scenarios), 'scenario')}")


def _check_session(entry: TargetEntry, reach: RunnableAdapter) -> Finding:
    outcome: list[Finding] = []

    async def try_out() -> None:
        outcome.append(await _open_and_close(entry, reach))

    run_to_end(try_out())
    return outcome[0]


async def _open_and_close(entry: TargetEntry, reach: RunnableAdapter) -> Finding:
    try:
        async with asyncio.timeout(SESSION_S):
            session = await reach.adapter.open(_context(entry))
            close = getattr(session, "close", None)
            if close is not None:
                await close()
    except TimeoutError:
        return Finding(False, f"no conversation could be opened within {SESSION_S:g} seconds")
    except EvaluationError as error:
        return Finding(False, f"no conversation could be opened: {error.code}")
    except Exception as error:  # isolation point: the target's code runs here, and its message may hold a secret
        return Finding(False, f"no conversation could be opened: {type(error).__name__}")
    return Finding(True, "a conversation was opened and closed")


def _context(entry: TargetEntry) -> OpenContext:
    run_id = str(uuid.uuid4())
    return OpenContext(run_id, "check", f"{run_id}:check", _scenario(entry), None, asyncio.Event())


def _scenario(entry: TargetEntry) -> EvaluationScenario:
    """Return the first scenario that the target offers and that writes nothing outside, or one made up."""
    for place in range(len(entry.suites)):
        try:
            scenarios = offered_suite(entry, place).scenarios
        except RequestRefused:
            continue
        for scenario in scenarios:
            if scenario.write_policy == WritePolicy.READ_ONLY:
                return scenario
    step = EvaluationStep("ask", freeze_object({"text": "Hello"}))
    return EvaluationScenario("check", "Check", WritePolicy.READ_ONLY, (step,))
