"""Settings of a team: ignore rules with a preview of what they hide, and the policy of its gate."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalrunner.compare import DEFAULT_IGNORED, ignore_rules
from evalrunner.compare import policy as policies

from reports.models import Team
from reports.pages.parts import Crumb, settings_crumbs
from reports.pages.path_links import path_links
from reports.selectors.ignore_preview import Hidden, preview_of
from reports.selectors.policies import ignored_of_team, policy_of_team, unknown_to_team
from reports.text import storable

_NAMED = 40


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """A hidden member: part of the turn, path and value (not in stored form); ``href`` opens its case there."""

    part: str
    path: str
    value: str
    href: str


@dataclass(frozen=True, slots=True)
class HiddenLine:
    """What a rule hides, ``number`` times in all."""

    rule: str
    number: int
    examples: tuple[ExampleLine, ...]


@dataclass(frozen=True, slots=True)
class IgnoreRulesPage:
    """``rules`` stand one a line; ``preview`` says what they hide in the newest runs."""

    crumbs: tuple[Crumb, ...]
    sentence: str
    rules: str
    usual: str
    preview: tuple[HiddenLine, ...]
    preview_words: str
    absent: str
    may_change: bool
    is_typed: bool
    faults: tuple[str, ...]


def rules_of(text: str) -> list[str]:
    """Return the rules of a form: one a line, blanks around them and empty lines left out."""
    return [rule for line in text.splitlines() if (rule := line.strip())]


def ignore_rules_page(
    *, team: Team, may_change: bool, typed: str | None = None, faults: tuple[str, ...] = ()
) -> IgnoreRulesPage:
    """Return the page of the rules as they are kept, or as ``typed``; what has faults is not previewed."""
    kept = ignored_of_team(team)
    texts = list(kept.texts) if typed is None else rules_of(typed)
    found = preview_of(team=team, rules=ignore_rules([] if faults else texts))
    number = sum(line.number for line in found.hidden)
    return IgnoreRulesPage(
        crumbs=settings_crumbs(team.name, Crumb("Ignore rules")),
        sentence=_sentence(team),
        rules="\n".join(texts),
        usual="\n".join(sorted(DEFAULT_IGNORED)),
        preview=tuple(HiddenLine(each.rule, each.number, _examples(each)) for each in found.hidden),
        preview_words=f"{number:,} members of {found.turns:,} turns of the newest runs"
        if found.turns and not faults
        else "",
        absent=", ".join(found.absent[:_NAMED]) + (" …" if len(found.absent) > _NAMED else ""),
        may_change=may_change,
        is_typed=typed is not None,
        faults=faults,
    )


def _examples(hidden: Hidden) -> tuple[ExampleLine, ...]:
    return tuple(
        ExampleLine(
            each.part,
            each.path,
            each.value,
            path_links(each.place.run, each.place.case, each.part, each.place.turn + 1).href(each.path),
        )
        for each in hidden.examples
    )


def _sentence(team: Team) -> str:
    if team.ignored is None:
        return f"The side by side leaves out the usual {len(DEFAULT_IGNORED)} members, at any depth."
    number = len(team.ignored)
    return f"The side by side leaves out what {number:,} rule{'' if number == 1 else 's'} of your own choice name."


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """``example`` shows every member with its default; ``warnings`` name what is critical and stands in no suite."""

    crumbs: tuple[Crumb, ...]
    sentence: str
    text: str
    example: str
    may_change: bool
    faults: tuple[str, ...]
    warnings: tuple[str, ...]


def policy_page(*, team: Team, may_change: bool, typed: str | None = None, faults: tuple[str, ...] = ()) -> PolicyPage:
    whose = "the team’s own policy" if team.policy.strip() else "the defaults"
    return PolicyPage(
        crumbs=settings_crumbs(team.name, Crumb("Policy")),
        sentence=f"Comparisons and the gate judge by {whose}.",
        text=team.policy if typed is None else typed,
        example=(policies.__doc__ or "").partition("\n\n")[2].strip(),
        may_change=may_change,
        faults=faults,
        warnings=() if faults else _warnings(unknown_to_team(team, policy_of_team(team))),
    )


def _warnings(unknown: policies.Unmatched) -> tuple[str, ...]:
    found = (("scenario", unknown.scenarios), ("tag", unknown.tags))
    return tuple(
        f"No suite here has the critical {kind}{'' if len(names) == 1 else 's'} {_listed(names)}: a comparison is "
        f"inconclusive while neither side has a case of {'it' if len(names) == 1 else 'each'}."
        for kind, names in found
        if names
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(f"“{storable(name)}”" for name in names[:_NAMED]) + more
