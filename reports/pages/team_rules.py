"""Settings of a team: ignore rules with a preview of what they hide, and the policy of its gate."""

from dataclasses import dataclass

from evalrunner.compare import DEFAULT_IGNORED
from evalrunner.compare import policy as policies

from reports.models import Team
from reports.selectors.ignore_preview import preview_of
from reports.selectors.policies import ignored_of_team
from reports.text import storable

_NAMED = 40


@dataclass(frozen=True, slots=True)
class HiddenLine:
    """A name that a preview found; texts in stored form."""

    name: str
    number: int
    path: str
    value: str


@dataclass(frozen=True, slots=True)
class IgnoreRulesPage:
    """``names`` stand one a line; ``preview`` says what they hide in the newest runs."""

    sentence: str
    names: str
    usual: str
    preview: tuple[HiddenLine, ...]
    preview_words: str
    absent: str
    may_change: bool
    is_typed: bool
    fault: str


def names_of(text: str) -> list[str]:
    """Return the names of a form: one a line, blanks around them and empty lines left out."""
    return [name for line in text.splitlines() if (name := line.strip())]


def ignore_rules_page(*, team: Team, may_change: bool, typed: str | None = None, fault: str = "") -> IgnoreRulesPage:
    names = sorted(ignored_of_team(team)) if typed is None else names_of(typed)
    found = preview_of(team=team, names=names[:1_000])
    number = sum(line.number for line in found.hidden)
    return IgnoreRulesPage(
        sentence=_sentence(team),
        names="\n".join(names),
        usual="\n".join(sorted(DEFAULT_IGNORED)),
        preview=tuple(
            HiddenLine(storable(each.name), each.number, storable(each.path), storable(each.value))
            for each in found.hidden
        ),
        preview_words=f"{number:,} members of {found.turns:,} turns of the newest runs" if found.turns else "",
        absent=", ".join(found.absent[:_NAMED]) + (" …" if len(found.absent) > _NAMED else ""),
        may_change=may_change,
        is_typed=typed is not None,
        fault=fault,
    )


def _sentence(team: Team) -> str:
    if team.ignored is None:
        return f"The side by side leaves out the usual {len(DEFAULT_IGNORED)} members, at any depth."
    number = len(team.ignored)
    return (
        f"The side by side leaves out {number:,} member{'' if number == 1 else 's'} of your own choice, at any depth."
    )


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """``example`` shows every member with its default."""

    sentence: str
    text: str
    example: str
    may_change: bool
    fault: str


def policy_page(*, team: Team, may_change: bool, typed: str | None = None, fault: str = "") -> PolicyPage:
    whose = "the team’s own policy" if team.policy.strip() else "the defaults"
    return PolicyPage(
        sentence=f"Comparisons and the gate judge by {whose}.",
        text=team.policy if typed is None else typed,
        example=(policies.__doc__ or "").partition("\n\n")[2].strip(),
        may_change=may_change,
        fault=fault,
    )
