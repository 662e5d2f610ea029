"""What a first start shows: nothing made up. The tutorial is run here and now; the assistant's five versions were run
once and are imported as any report would be (``reports/sample``).
"""

import asyncio
import io
import json
from pathlib import Path

from evalrunner import parse_evaluation_suite, run_evaluation
from evalrunner.examples import catalogue
from evalrunner.models import EvaluationReport

from reports.domain.baselines import DEFAULT_NAME
from reports.keys import text_key
from reports.models import Run, Team, User
from reports.services.baselines import set_baseline
from reports.services.ingest import ingest_report

SAMPLE_FOLDER = Path(__file__).resolve().parent.parent / "sample"
TUTORIAL_REPETITIONS = 3
RELEASED = "skyline-2026.02.3"


def has_runs(*, team: Team) -> bool:
    """Tell whether the team has any run: a start never mixes sample data with real ones."""
    return Run.objects.for_team(team).exists()


def load_sample_data(*, team: Team, user: User) -> int:
    """Store the sample runs in the team and return how many are new; what is there already stays as it is."""
    return _load_tutorial(team, user) + _load_reports(team, user)


def _load_tutorial(team: Team, user: User) -> int:
    """Run both versions of the tutorial's target, the correct one first; nothing when the team has run it before."""
    if Run.objects.for_team(team).filter(version__target__key=text_key(catalogue.target.id)).exists():
        return 0
    fingerprints = (catalogue.CORRECT_SELECTION, catalogue.WRONG_SELECTION)
    for fingerprint in fingerprints:
        report = asyncio.run(_run_tutorial(fingerprint))
        source = io.BytesIO(json.dumps(report.to_data()).encode())
        ingest_report(team=team, source=source, origin=Run.Origin.COMMAND, created_by=user)
    return len(fingerprints)


async def _run_tutorial(fingerprint: str) -> EvaluationReport:
    return await run_evaluation(
        suite=parse_evaluation_suite(json.loads(catalogue.suite_file.read_text(encoding="utf-8"))),
        target={"id": catalogue.target.id, "fingerprint": fingerprint},
        adapter=catalogue.make_adapter(fingerprint),
        evaluators=catalogue.evaluators,
        repetitions=TUTORIAL_REPETITIONS,
    )


def _load_reports(team: Team, user: User) -> int:
    outcomes = []
    for path in sorted(SAMPLE_FOLDER.glob("*.json.gz")):
        with path.open("rb") as source:
            outcomes.append(
                ingest_report(
                    team=team, source=source, origin=Run.Origin.COMMAND, created_by=user, file_name=path.name
                ).outcome
            )
    if "created" in outcomes:
        _pin_production(team, user)
    return outcomes.count("created")


def _pin_production(team: Team, user: User) -> None:
    run = Run.objects.for_team(team).filter(version__key=text_key(RELEASED), status="completed").first()
    if run is not None:
        reason = "Released to all travellers."
        set_baseline(team=team, user=user, run_pk=run.pk, name=DEFAULT_NAME, reason=reason, is_default=True)
