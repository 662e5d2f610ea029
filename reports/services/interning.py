"""Rows that many runs share: versions, suite revisions, scenario variants, failure signatures.

Each is made once per team, whoever comes first; two processes that make the same row at the same moment both get it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.db import IntegrityError, transaction
from evalrunner.canonical import digest
from evalrunner.compare import FailureSignature, definition_digest
from evalrunner.models import EvaluationSuite

from reports.keys import text_key
from reports.models import Scenario, ScenarioVariant, Signature, Suite, SuiteRevision, Target, Team, Version
from reports.payloads import pack
from reports.text import storable

_BATCH = 200
Row = TypeVar("Row")


def intern_version(team: Team, *, target_id: str, fingerprint: str) -> Version:
    """Return the row of a target at a fingerprint."""
    target, _ = Target.objects.get_or_create(
        team=team, key=text_key(target_id), defaults={"target_id": storable(target_id)}
    )
    version, _ = Version.objects.get_or_create(
        target=target, key=text_key(fingerprint), defaults={"fingerprint": storable(fingerprint)}
    )
    return version


def intern_revision(team: Team, suite: EvaluationSuite) -> SuiteRevision:
    """Return the row of a suite's content; a new revision gives the suite its name."""
    definition = suite.to_data()
    content = digest(definition)
    row, _ = Suite.objects.get_or_create(
        team=team, key=text_key(suite.id), defaults={"suite_id": storable(suite.id), "name": storable(suite.name)}
    )
    try:
        return SuiteRevision.objects.defer("definition").get(suite=row, digest=content)
    except SuiteRevision.DoesNotExist:
        pass
    try:
        return _make_revision(row, definition, content)
    except IntegrityError:  # somebody else was faster
        return SuiteRevision.objects.defer("definition").get(suite=row, digest=content)


@transaction.atomic
def _make_revision(suite: Suite, definition: Mapping[str, Any], content: str) -> SuiteRevision:
    scenarios = definition["scenarios"]
    revision = SuiteRevision.objects.create(
        suite=suite, digest=content, scenario_count=len(scenarios), definition=pack(definition)
    )
    rows = (_scenario_row(revision, position, scenario) for position, scenario in enumerate(scenarios))
    Scenario.objects.bulk_create(rows, batch_size=_BATCH)
    Suite.objects.filter(pk=suite.pk).update(name=storable(definition["name"]))
    return revision


def _scenario_row(revision: SuiteRevision, position: int, scenario: Mapping[str, Any]) -> Scenario:
    return Scenario(
        revision=revision,
        position=position,
        key=text_key(scenario["id"]),
        scenario_id=storable(scenario["id"]),
        name=storable(scenario["name"]),
        tags=[storable(tag) for tag in scenario.get("tags", ())],
        write_policy=scenario["writePolicy"],
        definition_digest=definition_digest(scenario),
        definition=pack(scenario),
    )


class CaseInterning:
    """Variants and signatures of the cases that one process writes for a team; remembers what it has seen."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._variants: dict[str, int] = {}
        self._signatures: dict[str, int] = {}

    def variant_ids(self, variants: Iterable[tuple[str, str, Mapping[str, str]]]) -> Mapping[str, int]:
        """Return ids by key for variants given as (key, scenario id, chosen variants), and for all seen before."""
        new = {
            key: ScenarioVariant(
                team=self._team,
                key=key,
                scenario_key=text_key(scenario_id),
                scenario_id=storable(scenario_id),
                variants={storable(step): storable(variant) for step, variant in chosen.items()},
            )
            for key, scenario_id, chosen in variants
            if key not in self._variants
        }
        if new:
            ScenarioVariant.objects.bulk_create(_in_order(new), ignore_conflicts=True, batch_size=_BATCH)
            found = ScenarioVariant.objects.filter(team=self._team, key__in=list(new))
            self._variants.update(found.values_list("key", "id"))
        return self._variants

    def signature_ids(self, signatures: Iterable[tuple[str, FailureSignature]]) -> Mapping[str, int]:
        """Return ids by key for signatures given as (key, signature), and for all seen before."""
        new = {
            key: Signature(
                team=self._team,
                key=key,
                scope=signature.scope,
                step_id=storable(signature.step_id),
                assertions=[[storable(name) for name in path] for path in signature.assertions],
                error_code=storable(signature.error_code),
            )
            for key, signature in signatures
            if key not in self._signatures
        }
        if new:
            Signature.objects.bulk_create(_in_order(new), ignore_conflicts=True, batch_size=_BATCH)
            found = Signature.objects.filter(team=self._team, key__in=list(new))
            self._signatures.update(found.values_list("key", "id"))
        return self._signatures


def _in_order(rows: Mapping[str, Row]) -> list[Row]:
    """Put rows in one order for all imports: those that make the same rows then never wait in a ring."""
    return [rows[key] for key in sorted(rows)]
