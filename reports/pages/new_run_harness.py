"""The part of the form for a new run that targets of kind ``harness`` have: profile, policies, tags to leave out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalrunner.models import EvaluationSuite

from reports.domain.harness.options import HarnessOptions
from reports.pages.new_run_choices import TAGS_OFFERED
from reports.runnable import TargetEntry, TargetUnusable
from reports.runnable.harness import HarnessMaker
from reports.text import storable

FIELDS = ("profile", "approval_policy", "sandbox_policy", "exclude_tags")


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ChoiceField:
    name: str
    label: str
    help: str
    choices: tuple[Choice, ...]
    faults: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class HarnessFields:
    """``notes`` say what the operator has allowed and what not."""

    fields: tuple[ChoiceField, ...]
    tags: tuple[Choice, ...]
    tag_faults: tuple[Any, ...]
    fail_fast: bool
    notes: tuple[str, ...]


def harness_fields(
    entry: TargetEntry,
    suite: EvaluationSuite | None,
    options: HarnessOptions,
    faults: Mapping[str, tuple[Any, ...]],
    *,
    is_offered: bool,
) -> HarnessFields | None:
    """Decide what the form asks of a target of kind ``harness``; None for others and for one that cannot be used."""
    maker = entry.maker
    if not isinstance(maker, HarnessMaker):
        return None
    try:
        allowed = maker.allowed()
        default = maker.default_profile(allowed)
    except TargetUnusable:
        return None
    profile, approval, sandbox = options.profile or default, options.approval_policy, options.sandbox_policy
    return HarnessFields(
        fields=(
            _field("profile", "Profile", "Answers the rows that name none.", allowed.profiles, profile, faults),
            _field("approval_policy", "Approval", _APPROVAL_HELP, allowed.approval_policies, approval, faults),
            _field("sandbox_policy", "Sandbox", _SANDBOX_HELP, allowed.sandbox_policies, sandbox, faults),
        ),
        tags=_tags(suite, options.exclude_tags),
        tag_faults=faults.get("exclude_tags", ()),
        fail_fast=options.fail_fast,
        notes=tuple(_notes(maker, suite, is_offered=is_offered)),
    )


_APPROVAL_HELP = "When somebody must be asked. Nobody is there: the target answers for them."
_SANDBOX_HELP = "What tools may do at all."


def _field(
    name: str, label: str, help: str, values: Sequence[str], chosen: str, faults: Mapping[str, tuple[Any, ...]]
) -> ChoiceField:
    chosen = chosen if chosen in values else values[0]
    choices = tuple(Choice(value, storable(value), value == chosen) for value in values)
    return ChoiceField(name, label, help, choices, faults.get(name, ()))


def _tags(suite: EvaluationSuite | None, chosen: Iterable[str]) -> tuple[Choice, ...]:
    tags = sorted({tag for scenario in (suite.scenarios if suite else ()) for tag in scenario.tags or ()})
    left_out = set(chosen)
    shown = [tag for place, tag in enumerate(tags) if place < TAGS_OFFERED or tag in left_out]
    return tuple(Choice(storable(tag), storable(tag), tag in left_out) for tag in shown)


def _notes(maker: HarnessMaker, suite: EvaluationSuite | None, *, is_offered: bool) -> Iterable[str]:
    changing = ", ".join(maker.tools)
    yield f"Beside reading, this target allows {changing}." if changing else "This target allows reading tools only."
    if suite is None or not _lists_commands(suite):
        return
    if not maker.post_run_commands:
        yield "The rows list commands to run afterwards; this target does not allow them, so these rows will fail."
    elif not is_offered:
        yield (
            "The rows list commands to run afterwards. They run only from a file that the target offers, never from "
            "one that was uploaded or stored: these rows will fail."
        )


def _lists_commands(suite: EvaluationSuite) -> bool:
    return any(
        getattr(assertion, "evaluator", "") == "harness.post_run_commands"
        for scenario in suite.scenarios
        for assertion in scenario.assertions or ()
    )
