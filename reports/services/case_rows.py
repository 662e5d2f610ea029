"""Rows of cases and turns, made from plain case data in the wire format.

``prepare_case`` is pure: it derives the columns and packs the payloads. ``CaseWriter`` writes prepared cases into a
generation, many at a time for imports, one at a time for the checkpoints of a run that is executed here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from django.db import transaction
from django.utils import timezone
from evalrunner.compare import FailureSignature, failing_in_words, failure_signature
from evalrunner.data import PROTO

from reports.keys import variant_key
from reports.models import Case, Generation, Team, Turn
from reports.payloads import pack_bytes
from reports.services.interning import CaseInterning
from reports.text import storable

MAX_ROWS = 500  # rows of one transaction
MAX_BYTES = 4 << 20  # payload bytes of one transaction
_GOING_ON = ("pending", "running")
_PROTO_BYTES = b'"__proto__"'


class PreparedTurn(NamedTuple):
    position: int
    step_id: str
    status: str
    error_code: str
    duration_ms: float
    payload: bytes


class PreparedCase(NamedTuple):
    """A case's columns, keys instead of ids; texts as they came."""

    position: int
    variant_key: str
    scenario_id: str
    variants: Mapping[str, str]
    repetition: int
    name: str
    status: str
    error_code: str
    skip_reason: str
    duration_ms: float
    turn_count: int
    signature: FailureSignature | None
    failing: str
    payload: bytes
    turns: Sequence[PreparedTurn]

    def columns(self) -> dict[str, Any]:
        """Return the values of the columns of ``Case`` that need no other row, texts in stored form."""
        return {
            "position": self.position,
            "repetition": self.repetition,
            "name": storable(self.name),
            "status": self.status,
            "error_code": storable(self.error_code),
            "skip_reason": storable(self.skip_reason),
            "duration_ms": self.duration_ms,
            "turn_count": self.turn_count,
            "failing": storable(self.failing),
            "payload": self.payload,
        }

    @property
    def byte_size(self) -> int:
        return len(self.payload) + sum(len(turn.payload) for turn in self.turns)


def prepare_case(case: Mapping[str, Any], position: int, *, first_turn: int = 0) -> PreparedCase:
    """Make the rows of a checked case; turns before ``first_turn`` are counted but not packed."""
    turns = case["turns"]
    variants = {step: variant for step, variant in case["variants"].items() if step != PROTO}
    own = {name: value for name, value in case.items() if name != "turns"}
    own["variants"] = variants
    has_failed = case["status"] != "passed"
    return PreparedCase(
        position=position,
        variant_key=variant_key(case["scenarioId"], variants),
        scenario_id=case["scenarioId"],
        variants=variants,
        repetition=int(case["repetition"]),
        name=case["name"],
        status=case["status"],
        error_code=case.get("errorCode", ""),
        skip_reason=case.get("skipReason", ""),
        duration_ms=min(sum(float(turn["durationMs"]) for turn in turns), sys.float_info.max),
        turn_count=len(turns),
        signature=failure_signature(case) if has_failed else None,
        failing=failing_in_words(case) if has_failed else "",
        payload=pack_data(own),
        turns=[_prepare_turn(turns[index], index) for index in range(first_turn, len(turns))],
    )


def _prepare_turn(turn: Mapping[str, Any], position: int) -> PreparedTurn:
    return PreparedTurn(
        position=position,
        step_id=turn["stepId"],
        status=turn["status"],
        error_code=turn.get("errorCode", ""),
        duration_ms=float(turn["durationMs"]),
        payload=pack_data(turn),
    )


def pack_data(value: Mapping[str, Any]) -> bytes:
    """Pack checked wire data; ``__proto__`` members are dropped, as the runner core drops them."""
    return pack_bytes(wire_bytes(value))


def wire_bytes(value: object) -> bytes:
    """Return the JSON of checked wire data without ``__proto__`` members.

    orjson is many times faster than ``json`` but refuses unpaired surrogates and integers beyond 64 bits.
    """
    try:
        text = orjson.dumps(value)
    except TypeError:
        return json.dumps(_without_proto(value), separators=(",", ":"), allow_nan=False).encode("ascii")
    return orjson.dumps(_without_proto(value)) if _PROTO_BYTES in text else text


def _without_proto(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_proto(item) for name, item in value.items() if name != PROTO}
    if isinstance(value, list | tuple):
        return [_without_proto(item) for item in value]
    return value


class _StoredState(NamedTuple):
    """What a writer has to know of a case that is stored, to bring it up to a later state."""

    pk: int
    variant_id: int
    turn_count: int
    status: str


class CaseWriter:
    """Write the cases of one generation. Not shared between threads."""

    def __init__(self, team: Team, generation: Generation) -> None:
        self._generation = generation
        self._interning = CaseInterning(team)
        self._stored: dict[int, _StoredState] = {}

    def write_cases(self, cases: Sequence[PreparedCase]) -> None:
        """Add cases in one transaction and renew the generation."""
        variants = self._interning.variant_ids((each.variant_key, each.scenario_id, each.variants) for each in cases)
        signed = [(each.signature.key, each.signature) for each in cases if each.signature is not None]
        signatures = self._interning.signature_ids(signed)
        with transaction.atomic():
            rows = Case.objects.bulk_create([self._case_row(each, variants, signatures) for each in cases])
            turns = [_turn_row(row.pk, turn) for row, each in zip(rows, cases, strict=True) for turn in each.turns]
            Turn.objects.bulk_create(turns)
            Generation.objects.filter(pk=self._generation.pk).update(renewed_at=timezone.now())

    def write_case(self, case: Mapping[str, Any], position: int) -> None:
        """Add one case."""
        self.write_cases([prepare_case(case, position)])

    @transaction.atomic(savepoint=False)  # part of the caller's transaction where there is one
    def replace_case(self, case: Mapping[str, Any], position: int) -> str:
        """Bring the stored case at a place up to a later state: turns that are stored stay, new ones are added.

        Returns the status that it had. Nobody else may write to the case while this writer does.
        """
        stored = self._stored.get(position) or self._look_up(position)
        prepared = prepare_case(case, position, first_turn=stored.turn_count)
        signed = prepared.signature
        signatures = self._interning.signature_ids([(signed.key, signed)] if signed is not None else [])
        row = self._case_row(prepared, {prepared.variant_key: stored.variant_id}, signatures)
        row.pk = stored.pk
        row.save(force_update=True)
        if prepared.turns:
            Turn.objects.bulk_create(_turn_row(stored.pk, turn) for turn in prepared.turns)
        transaction.on_commit(lambda: self._remember(position, stored, prepared))
        return stored.status

    def _look_up(self, position: int) -> _StoredState:
        columns = ("pk", "variant_id", "turn_count", "status")
        stored = Case.objects.filter(generation=self._generation, position=position).values_list(*columns).get()
        return _StoredState(*stored)

    def _remember(self, position: int, stored: _StoredState, case: PreparedCase) -> None:
        """Keep the state of a case that goes on, so that its next one costs no look."""
        if case.status in _GOING_ON:
            self._stored[position] = _StoredState(stored.pk, stored.variant_id, case.turn_count, case.status)
        else:
            self._stored.pop(position, None)

    def _case_row(self, case: PreparedCase, variants: Mapping[str, int], signatures: Mapping[str, int]) -> Case:
        return Case(
            generation_id=self._generation.pk,
            variant_id=variants[case.variant_key],
            signature_id=None if case.signature is None else signatures[case.signature.key],
            **case.columns(),
        )


def _turn_row(case_pk: int, turn: PreparedTurn) -> Turn:
    return Turn(
        case_id=case_pk,
        position=turn.position,
        step_id=storable(turn.step_id),
        status=turn.status,
        error_code=storable(turn.error_code),
        duration_ms=turn.duration_ms,
        payload=turn.payload,
    )
