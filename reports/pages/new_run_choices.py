"""What the form of a new run offers to choose from: scenarios and tags of the suite."""

from __future__ import annotations

from dataclasses import dataclass

from evalrunner.models import EvaluationSuite, WritePolicy

from reports.domain.run_draft import RunDraft
from reports.text import storable

PICKED_ONE_BY_ONE = 300  # scenarios; a longer list is typed rather than ticked
TAGS_OFFERED = 300


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of a list; ``text`` may come from outside (stored form)."""

    value: str
    text: str
    is_chosen: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class OptionGroup:
    title: str
    options: tuple[Option, ...]


def scenario_options(suite: EvaluationSuite | None, draft: RunDraft) -> tuple[Option, ...]:
    if suite is None or len(suite.scenarios) > PICKED_ONE_BY_ONE:
        return ()
    return tuple(
        Option(
            scenario.id,
            storable(scenario.name),
            scenario.id in draft.scenarios,
            ", ".join(_scenario_notes(len(scenario.steps), scenario.write_policy, scenario.skip_reason)),
        )
        for scenario in suite.scenarios
    )


def _scenario_notes(steps: int, policy: WritePolicy, skip_reason: str | None) -> list[str]:
    notes = [f"{steps} step{'' if steps == 1 else 's'}"]
    if policy == WritePolicy.EXTERNAL:
        notes.append("writes outside")
    if skip_reason is not None:
        notes.append("skipped")
    return notes


def tag_options(suite: EvaluationSuite | None, draft: RunDraft) -> tuple[Option, ...]:
    tags = sorted({tag for scenario in (suite.scenarios if suite else ()) for tag in scenario.tags or ()})
    chosen = set(draft.tags)
    shown = [tag for place, tag in enumerate(tags) if place < TAGS_OFFERED or tag in chosen]
    return tuple(Option(storable(tag), storable(tag), tag in chosen) for tag in shown)
