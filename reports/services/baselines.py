"""Pinning a run as a named baseline, and taking the pin away. Every step stays in the history."""

import uuid
from typing import Any

from django.db import transaction

from reports.models import Baseline, BaselineChange, Run, Team, User
from reports.services.audit import differences, record
from reports.services.locks import lock_targets
from reports.services.run_changes import recount_changes
from reports.text import restored, storable


class BaselineRefused(Exception):
    """A baseline that cannot be set or cleared; ``code`` is stable text, ``sentence`` says what to do."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


def set_baseline(
    *,
    team: Team,
    user: User,
    run_pk: uuid.UUID,
    name: str,
    reason: str = "",
    is_default: bool = False,
    is_forced: bool = False,
) -> Baseline:
    """Point a named baseline of the run's target and suite to the run; the same again changes nothing but its reason.

    Raises BaselineRefused: for a run that the team does not have or that has no cases, and for one that is not
    completed unless it is forced.
    """
    run = Run.objects.for_team(team).select_related("version", "revision").filter(pk=run_pk).first()
    kept = storable(name.strip())
    _check(run, kept, is_forced)
    assert run is not None
    place = {"target_id": run.version.target_id, "suite_id": run.revision.suite_id}
    with transaction.atomic():
        lock_targets([place["target_id"]])  # one at a time: only one may be the default
        found = Baseline.objects.filter(**place, name=kept).select_related("run__version").first()
        before = _said(found) if found else {}
        is_same = found is not None and (found.run_id, found.is_default) == (run.pk, is_default or found.is_default)
        said = storable(reason.strip())
        if found and is_same and said in ("", found.reason):
            return found
        former = _take_default(place, kept) if is_default else {}
        baseline = found or Baseline(team=team, **place, name=kept)
        baseline.run, baseline.is_default = run, is_default or baseline.is_default
        baseline.set_by, baseline.reason = user, said
        baseline.save()
        _remember(baseline, user, BaselineChange.Action.SET, run, said, is_forced=is_forced)
        details = differences(before, _said(baseline)) if before else _said(baseline)
        record(team=team, actor=user, action="baseline.set", subject=kept, **details, **former)
        if baseline.is_default and not is_same:
            _recount(**place)
    return baseline


def _take_default(place: dict[str, int], name: str) -> dict[str, str]:
    """Let no other baseline be the default any more, and return which one was, for the audit trail."""
    others = Baseline.objects.filter(**place, is_default=True).exclude(name=name)
    former = others.values_list("name", flat=True).first()
    others.update(is_default=False)
    return {"formerDefault": restored(former)} if former else {}


def _check(run: Run | None, name: str, is_forced: bool) -> None:
    if run is None:
        raise BaselineRefused("run_unknown", "There is no such run in your team.")
    if not name or len(name) > 100:
        raise BaselineRefused("name_invalid", "A baseline’s name has 1 to 100 characters.")
    if run.follow_up:
        raise BaselineRefused("run_is_follow_up", "This is a follow-up: its scenarios were chosen by their outcome.")
    if run.generation_id is None:
        raise BaselineRefused("run_has_no_cases", f"This run has no cases yet: it is {run.status}.")
    if run.status != "completed" and not is_forced:
        sentence = f"This run is {run.status}, not completed. Tick “although it is incomplete” to use it all the same."
        raise BaselineRefused("run_incomplete", sentence)


def clear_baseline(*, team: Team, user: User, pk: int, reason: str = "") -> None:
    """Take a named baseline away; one that is gone already is no error."""
    with transaction.atomic():
        found = Baseline.objects.for_team(team).filter(pk=pk)
        lock_targets(found.values_list("target_id", flat=True))
        baseline = found.select_for_update().first()
        if baseline is None:
            return
        _remember(baseline, user, BaselineChange.Action.CLEARED, None, storable(reason.strip()))
        details = {"before": _said(baseline), "reason": reason.strip()}
        record(team=team, actor=user, action="baseline.cleared", subject=baseline.name, **details)
        place = {"target_id": baseline.target_id, "suite_id": baseline.suite_id}
        baseline.delete()
        if baseline.is_default:
            _recount(**place)


def _remember(
    baseline: Baseline, user: User, action: str, run: Run | None, reason: str, *, is_forced: bool = False
) -> None:
    BaselineChange.objects.create(
        team_id=baseline.team_id,
        target_id=baseline.target_id,
        suite_id=baseline.suite_id,
        name=baseline.name,
        action=action,
        run=run,
        is_default=baseline.is_default,
        is_forced=is_forced,
        by=user,
        reason=reason,
    )


def _said(baseline: Baseline) -> dict[str, Any]:
    """Return what a baseline says, for the audit trail."""
    return {
        "run": str(baseline.run_id),
        "version": restored(baseline.run.version.fingerprint),
        "isDefault": baseline.is_default,
        "reason": restored(baseline.reason),
    }


def _recount(target_id: int, suite_id: int) -> None:
    recount_changes(Run.objects.filter(version__target=target_id, revision__suite=suite_id))
