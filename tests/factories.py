"""Makers of valid data; a test states only what matters to it.

``report("PPF")`` is a report with one case per letter: P passed, F failed, E error, S skipped, B blocked, C cancelled,
N pending, R running.
"""

import io
import itertools
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from reports.models import Membership, Run, Team, User
from reports.services.ingest import ingest_report

LETTERS = {
    "P": "passed",
    "F": "failed",
    "E": "error",
    "S": "skipped",
    "B": "blocked",
    "C": "cancelled",
    "N": "pending",
    "R": "running",
}
_numbers = itertools.count(1)


def make_team(name: str = "") -> Team:
    return Team.objects.create(name=name or f"team-{next(_numbers)}")


def make_member(team: Team, role: str = "viewer") -> User:
    user = User.objects.create_user(f"{role}-{next(_numbers)}")
    Membership.objects.create(team=team, user=user, role=role)
    return user


def suite(*scenario_ids: str, suite_id: str = "desk", **members: Any) -> dict[str, Any]:
    """Return a suite with one step ``ask`` and one assertion ``answered`` a scenario."""
    return {
        "schemaVersion": 1,
        "id": suite_id,
        "name": "Desk conversations",
        "scenarios": [scenario(scenario_id) for scenario_id in scenario_ids or ("greet",)],
    } | members


def scenario(scenario_id: str, **members: Any) -> dict[str, Any]:
    answered = {
        "id": "answered",
        "kind": "check",
        "path": ["response", "status"],
        "operator": "equals",
        "value": "completed",
    }
    return {
        "id": scenario_id,
        "name": f"Scenario {scenario_id}",
        "writePolicy": "read_only",
        "steps": [{"id": "ask", "input": {"text": f"Hello {scenario_id}"}, "assertions": [answered]}],
    } | members


def turn(status: str = "passed", *, step_id: str = "ask", **members: Any) -> dict[str, Any]:
    answer = "completed" if status == "passed" else "refused"
    result = {
        "id": "answered",
        "passed": status == "passed",
        "actual": {"present": True, "value": answer},
        "expected": "completed",
    }
    made: dict[str, Any] = {
        "stepId": step_id,
        "turnId": f"turn-{next(_numbers)}",
        "input": {"text": "Hello"},
        "status": status,
        "assertions": [result],
        "durationMs": 120,
    }
    if status == "error":
        made |= {"assertions": [], "errorCode": "EVALUATION_TRANSPORT_FAILED"}
    else:
        made["observation"] = {"response": {"status": answer, "message": "Good morning."}}
    return made | members


def case(
    status: str = "passed",
    *,
    scenario_id: str = "greet",
    repetition: int = 0,
    variants: Mapping[str, str] | None = None,
    **members: Any,
) -> dict[str, Any]:
    """Return a case whose turns fit its status: one turn where something was executed."""
    number = next(_numbers)
    made: dict[str, Any] = {
        "id": f"case-{number}",
        "scenarioId": scenario_id,
        "name": f"Scenario {scenario_id}",
        "repetition": repetition,
        "variants": dict(variants or {}),
        "threadId": f"thread-{number}",
        "status": status,
        "turns": [turn(status)] if status in {"passed", "failed", "error"} else [],
        "assertions": [],
    }
    if status == "skipped":
        made["skipReason"] = "Not applicable here"
    if status == "blocked":
        made["errorCode"] = "EXTERNAL_WRITES_NOT_AUTHORIZED"
    return made | members


def report(letters: str = "P", *, cases: Sequence[Mapping[str, Any]] | None = None, **members: Any) -> dict[str, Any]:
    """Return a valid report; its cases are repetitions of one scenario unless ``cases`` are given."""
    made = (
        list(cases)
        if cases is not None
        else [case(LETTERS[letter], repetition=index) for index, letter in enumerate(letters)]
    )
    scenario_ids = sorted({str(each["scenarioId"]) for each in made}) or ["greet"]
    whole: dict[str, Any] = {
        "schemaVersion": 1,
        "runId": str(uuid.uuid4()),
        "suite": suite(*scenario_ids),
        "fingerprint": "f" * 64,
        "target": {"id": "desk.agent", "fingerprint": "v1"},
        "startedAt": "2026-03-02T09:05:00.000Z",
        "finishedAt": "2026-03-02T09:06:00.000Z",
        "status": "completed",
        "cases": made,
        "assertions": [],
    } | members
    return whole | {"summary": members.get("summary") or summary(made)}


def stored(team: Team, made: Mapping[str, Any], *, origin: str = "upload", file_name: str = "") -> Run:
    """Import a report and return its run."""
    source = io.BytesIO(json.dumps(made).encode())
    return Run.objects.get(pk=ingest_report(team=team, source=source, origin=origin, file_name=file_name).run_pk)


def outcomes(fingerprint: str = "v1", *, target_id: str = "desk.agent", **letters: str) -> dict[str, Any]:
    """Return the report of a version: a scenario for each name, a repetition for each letter ("PPF")."""
    cases = [
        case(LETTERS[letter], scenario_id=name, repetition=repetition)
        for name, statuses in letters.items()
        for repetition, letter in enumerate(statuses)
    ]
    return report(cases=cases, target={"id": target_id, "fingerprint": fingerprint})


def summary(cases: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Count cases by status, as a report's ``summary`` does."""
    statuses = [each["status"] for each in cases]
    return {"total": len(statuses)} | {status: statuses.count(status) for status in LETTERS.values()}
