"""The suite of a new run: stored before, offered by the target, or brought along."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from evalrunner.errors import SUITE_INVALID, EvaluationError, JsonTextError
from evalrunner.jsontext import parse_json
from evalrunner.models import EvaluationSuite
from evalrunner.suites import parse_evaluation_suite

from reports.domain.harness.names import SUITE_ID
from reports.domain.harness.suites import ScenariosUnusable, read_scenario_suite
from reports.domain.run_options import Refusal, RequestRefused
from reports.importers.formats import PEEKED, Format, recognise
from reports.models import SuiteRevision, Team
from reports.payloads import unpack
from reports.runnable import TargetEntry
from reports.selectors.new_run import get_revision
from reports.services.interning import intern_revision

MOST_BYTES = 16 * 1024 * 1024
_MOST_PATHS = 20


def store_suite(*, team: Team, content: bytes) -> SuiteRevision:
    """Store a suite that somebody brought and return its revision; RequestRefused names the faults and their places."""
    return intern_revision(team, read_suite(content))


def read_suite(content: bytes) -> EvaluationSuite:
    """Read the JSON of a suite, or a scenario file, which is recognised by its rows. Raises RequestRefused."""
    if recognise(content[:PEEKED]) == Format.HARNESS_SCENARIOS:
        return read_scenario_file(content)
    if len(content) > MOST_BYTES:
        raise _refused(SUITE_INVALID, f"The file is larger than {MOST_BYTES >> 20} MiB.")
    try:
        value = parse_json(content)
    except JsonTextError as error:
        raise _refused(SUITE_INVALID, f"The file is not JSON: {error}.") from error
    return suite_of_value(value)


def read_scenario_file(content: bytes, *, id: str = SUITE_ID, name: str = "") -> EvaluationSuite:
    """Read a scenario file of the harness as a suite. Raises RequestRefused, which names the line at fault."""
    if len(content) > MOST_BYTES:
        raise _refused(SUITE_INVALID, f"The file is larger than {MOST_BYTES >> 20} MiB.")
    try:
        return read_scenario_suite(content.decode("utf-8"), id=id, name=name)
    except UnicodeDecodeError as error:
        raise _refused(SUITE_INVALID, f"The scenario file is not UTF-8 text: byte {error.start}.") from error
    except ScenariosUnusable as error:
        raise _refused(SUITE_INVALID, str(error)) from error


def suite_of_value(value: object) -> EvaluationSuite:
    """Check the plain value of a suite. Raises RequestRefused."""
    try:
        return parse_evaluation_suite(value)
    except EvaluationError as error:
        raise _refused(error.code, "This is no valid suite.", error.paths[:_MOST_PATHS]) from error


def find_suite(team: Team, entry: TargetEntry, choice: str) -> SuiteRevision | EvaluationSuite:
    """Return the suite that a choice names: "offered:<place>" of the target, or "revision:<pk>".

    Raises RequestRefused for anything else.
    """
    kind, _, place = choice.partition(":")
    if place.isascii() and place.isdigit() and len(place) < 18:
        if kind == "offered" and int(place) < len(entry.suites):
            return offered_suite(entry, int(place))
        revision = get_revision(team, int(place)) if kind == "revision" else None
        if revision is not None:
            return revision
    raise _refused(SUITE_INVALID, "Choose a suite, or bring one along.")


def is_offered(choice: str) -> bool:
    """Tell whether a choice names a file of the target rather than something that was stored or brought."""
    return choice.startswith("offered:")


def offered_suite(entry: TargetEntry, place: int) -> EvaluationSuite:
    """Return a suite that a target offers; RequestRefused when its file cannot be used."""
    path = entry.suites[place]
    try:
        state = path.stat()
        return _read_file(path, state.st_mtime_ns, state.st_size, entry.kind == "harness")
    except OSError as error:
        raise _refused(SUITE_INVALID, f"The offered file {path.name} cannot be read: {error.strerror}.") from error


@lru_cache(maxsize=16)
def _read_file(path: Path, changed_ns: int, size: int, is_scenario_file: bool) -> EvaluationSuite:
    content = path.read_bytes()
    return read_scenario_file(content, id=path.stem, name=path.name) if is_scenario_file else read_suite(content)


def parsed_suite(suite: SuiteRevision | EvaluationSuite) -> EvaluationSuite:
    """Return the model of a suite; that of a stored revision, whose content never changes, is kept for a while."""
    return suite if isinstance(suite, EvaluationSuite) else _parse_stored(suite.pk, suite.digest)


@lru_cache(maxsize=8)
def _parse_stored(pk: int, digest: str) -> EvaluationSuite:
    definition = SuiteRevision.objects.values_list("definition", flat=True).get(pk=pk)
    return parse_evaluation_suite(unpack(definition))


def _refused(code: str, sentence: str, paths: tuple[str, ...] = ()) -> RequestRefused:
    return RequestRefused([Refusal("suite", code, sentence, paths)])
