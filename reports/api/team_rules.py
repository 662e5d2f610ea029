"""Ignore rules of a team, for a signed-in browser: a token neither reads nor changes them."""

import uuid
from typing import Annotated, Any, cast

from django.http import HttpRequest
from evalrunner.compare import ignore_rules
from ninja import Field, Router, Schema
from pydantic import ConfigDict

from reports.access import TeamRequest
from reports.api.auth import BrowserSession
from reports.api.problems import Problem, ProblemOut
from reports.models import Team
from reports.pages.path_links import path_links
from reports.selectors.ignore_preview import Example, Hidden, preview_of
from reports.selectors.policies import ignored_of_team
from reports.services.team_rules import MOST_RULES, RulesRefused, check_ignored, set_ignored

router = Router(tags=["settings"])
_REFUSED: dict[Any, Any] = dict.fromkeys((401, 403, 422), ProblemOut)


class IgnoreRulesIn(Schema):
    """Names at any depth (``threadId``) and paths from the root of the observation (``events[*].at``)."""

    model_config = ConfigDict(extra="forbid")

    rules: Annotated[list[str], Field(max_length=MOST_RULES)]


class IgnoreRulesOut(Schema):
    """``isUsual``: the team has no rules of its own."""

    rules: list[str]
    isUsual: bool


class HiddenExampleOut(Schema):
    """A hidden member; ``turn`` counts from 1, ``value`` is JSON, shortened, and ``href`` opens the case there."""

    run: uuid.UUID
    case: int
    turn: int
    part: str
    path: str
    value: str
    href: str


class HiddenOut(Schema):
    rule: str
    number: int
    examples: list[HiddenExampleOut]


class PreviewOut(Schema):
    """``turns`` of the newest runs were looked at; ``absent`` rules hide nothing in them."""

    turns: int
    hidden: list[HiddenOut]
    absent: list[str]


@router.get("/ignore-rules", auth=BrowserSession("viewer"), response={200: IgnoreRulesOut, **_REFUSED})
def get_ignore_rules(request: HttpRequest) -> IgnoreRulesOut:
    """What the side by side leaves out."""
    return _rules_of(cast(TeamRequest, request).team)


@router.put("/ignore-rules", auth=BrowserSession("admin"), response={200: IgnoreRulesOut, **_REFUSED})
def put_ignore_rules(request: HttpRequest, given: IgnoreRulesIn) -> IgnoreRulesOut:
    """Keep other rules. 422 names every rule that cannot be read, with its character and reason."""
    asked = cast(TeamRequest, request)
    try:
        set_ignored(team=asked.team, user=asked.user, rules=given.rules)
    except RulesRefused as refused:
        raise _problem(refused) from refused
    return _rules_of(asked.team)


@router.post("/ignore-rules/preview", auth=BrowserSession("admin"), response={200: PreviewOut, **_REFUSED})
def preview_ignore_rules(request: HttpRequest, given: IgnoreRulesIn) -> PreviewOut:
    """What rules would hide in the newest runs. Nothing is kept."""
    try:
        check_ignored(given.rules)
    except RulesRefused as refused:
        raise _problem(refused) from refused
    found = preview_of(team=cast(TeamRequest, request).team, rules=ignore_rules(given.rules))
    return PreviewOut(turns=found.turns, hidden=[_hidden(each) for each in found.hidden], absent=list(found.absent))


def _rules_of(team: Team) -> IgnoreRulesOut:
    return IgnoreRulesOut(rules=list(ignored_of_team(team).texts), isUsual=team.ignored is None)


def _hidden(hidden: Hidden) -> HiddenOut:
    return HiddenOut(rule=hidden.rule, number=hidden.number, examples=[_example(each) for each in hidden.examples])


def _example(example: Example) -> HiddenExampleOut:
    place = example.place
    return HiddenExampleOut(
        run=place.run,
        case=place.case,
        turn=place.turn + 1,
        part=example.part,
        path=example.path,
        value=example.value,
        href=path_links(place.run, place.case, example.part, place.turn + 1).href(example.path),
    )


def _problem(refused: RulesRefused) -> Problem:
    faults = [(f"rules.{place}", sentence) for place, sentence in refused.places]
    return Problem(422, "ignore_rules_invalid", refused.sentences[0], faults)
