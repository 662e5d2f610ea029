"""What is said of a run: its sentence, its facts, its record."""

from collections.abc import Mapping

from django.urls import reverse
from evalrunner.compare import Tally

from reports.domain.run_options import RunOptions
from reports.domain.wording import duration_in_words
from reports.models import Execution, Run
from reports.pages.parts import Fact
from reports.pages.run_continuation import first_tally
from reports.pages.run_links import definition_href

_ENDINGS = {
    "queued": "Waiting for a worker",
    "running": "Running",
    "cancelled": "Cancelled",
    "limited": "Stopped by its failure limit",
    "interrupted": "Interrupted",
    "rejected": "Could not begin",
}
_IMPORTED = {
    "upload": "uploaded",
    "api": "sent through the API",
    "web": "stored here",
    "command": "imported on the command line",
}
_STARTED = {
    "upload": "started here",
    "api": "started through the API",
    "web": "started here",
    "command": "started on the command line",
}


def run_sentence(run: Run, counted: Tally, *, is_executed: bool = True) -> str:
    """Answer in one sentence whether the run passed, in words and numbers: those of the attempts that rates count.

    ``counted`` are the run's own cases; what they are after retries stands beside. Without ``is_executed`` nothing runs
    here: a report that says so was published before its run ended.
    """
    first = first_tally(run) or counted
    numbers = f"{first.passed} of {first.decided} decided cases passed ({first.percent})" if first.decided else ""
    after = f"after retries {counted.passed} of {counted.decided} ({counted.percent})" if first != counted else ""
    parts = [part for part in (numbers, _undecided_words(first), after, _suite_words(run)) if part]
    said = "; ".join(parts) or "no case has been decided"
    if run.status == "completed":
        passed = "Passed on retry" if first.passed < counted.passed else "Passed"
        return f"{passed if run.is_passing else 'Did not pass'}: {said}."
    return f"{_ENDINGS[run.status] if is_executed or run.status != 'running' else 'Unfinished'}: {said}."


def _undecided_words(counted: Tally) -> str:
    return f"{counted.undecided} undecided" if counted.undecided else ""


def _suite_words(run: Run) -> str:
    if not run.suite_assertions_failed:
        return ""
    return f"{run.suite_assertions_failed} of {run.suite_assertions} suite assertions did not hold"


def run_facts(run: Run, execution: Execution | None) -> tuple[Fact, ...]:
    suite = run.revision.suite
    facts = [
        Fact("Target", run.version.target.target_id, reverse("target", args=[run.version.target_id])),
        Fact("Fingerprint", run.version.fingerprint, is_mono=True),
        Fact("Suite", suite.name, definition_href(run)),
        Fact("Suite revision", run.revision.digest[:12], is_mono=True),
        Fact("Started", "" if run.started_at else run.started_text, at=run.started_at),
        Fact("Duration", duration_in_words(duration_ms(run)) if duration_ms(run) is not None else ""),
        Fact("Origin", _origin_words(run, is_executed=execution is not None)),
    ]
    if execution is not None and execution.request.get("concurrency"):
        options, cases = RunOptions.from_data(execution.request), execution.request.get("planned_cases")
        facts.append(Fact("Concurrency", concurrency_words(options, options.shards if cases is None else cases)))
    return tuple(facts)


def run_record(run: Run) -> tuple[Fact, ...]:
    return (
        Fact("Run id", run.run_id, is_mono=True),
        Fact("Report’s start", run.started_text, is_mono=True),
        Fact("Report’s end", run.finished_text, is_mono=True),
        Fact("Format", run.format),
        Fact("File", run.file_name),
        Fact("Size", f"{run.byte_size:,} bytes" if run.byte_size is not None else ""),
        Fact("SHA-256 of the file", run.content_hash, is_mono=True),
        Fact("Compatibility fingerprint", run.compatibility_fingerprint, is_mono=True),
        Fact("Stored", at=run.created_at),
        Fact("Last change", at=run.updated_at),
    )


def duration_ms(run: Run) -> float | None:
    """Return how long the run took; None while it goes on, or where its times are no moments in order."""
    if run.started_at is None or run.finished_at is None or run.finished_at < run.started_at:
        return None
    return (run.finished_at - run.started_at).total_seconds() * 1000


def concurrency_words(options: RunOptions, cases: int) -> str:
    """Say how many of a run's conversations go on at once; there is no shard without a case to execute."""
    shards = min(options.shards, cases)
    in_each = f" in each of {shards:,} shards" if shards > 1 else ""
    return f"{options.concurrency:,}{in_each}"


def _origin_words(run: Run, *, is_executed: bool) -> str:
    came = (_STARTED if is_executed else _IMPORTED)[run.origin]
    return f"{came} by {run.created_by.get_username()}" if run.created_by else came


def variants_words(variants: Mapping[str, str]) -> str:
    """Return the chosen variants: "search: polite, select: first"; "" where the scenario has none."""
    return ", ".join(f"{step}: {variant}" for step, variant in variants.items())
