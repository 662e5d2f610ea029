"""Which run another one is measured against: one order, used by lists, pages, API and gate, and always said in words.

The explicit one; else the named one that is the default of its target and suite; else the newest completed run of the
newest earlier version that has one, on the same suite; else none. A run that is itself the default baseline is
measured against the version before it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

R = TypeVar("R")

DEFAULT_NAME: Final = "production"


class Rule(StrEnum):
    EXPLICIT = "explicit"
    NAMED = "named"
    DEFAULT = "default"
    EARLIER = "earlier"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Resolution(Generic[R]):
    """The run that was found and the rule that found it; ``name`` is that of a named baseline (stored form).

    ``own_name`` is the name under which the candidate itself is the default baseline, "" where it is not.
    """

    rule: Rule
    run: R | None = None
    name: str = ""
    own_name: str = ""

    @property
    def words(self) -> str:
        """Say how the run was found, or why there is none."""
        if self.rule is Rule.NONE and self.own_name:
            itself = rule_in_words(Rule.DEFAULT, self.own_name)
            return f"the run is itself {itself}, and no earlier version has a completed run of this suite"
        return rule_in_words(self.rule, self.name)


def resolve(
    *,
    explicit: R | None = None,
    default: tuple[R, str] | None = None,
    own: R | None = None,
    earlier: Callable[[], R | None],
) -> Resolution[R]:
    """Find a baseline. ``default`` is a run with its name, ``own`` the candidate: no run is its own baseline."""
    if explicit is not None:
        return Resolution(Rule.EXPLICIT, explicit)
    if default is not None and default[0] != own:
        return Resolution(Rule.DEFAULT, *default)
    found = earlier()
    own_name = default[1] if default is not None else ""
    return Resolution(Rule.EARLIER if found is not None else Rule.NONE, found, own_name=own_name)


def rule_in_words(rule: Rule, name: str = "") -> str:
    """Say how a baseline was found; the name stands in it in stored form."""
    return {
        Rule.EXPLICIT: "chosen explicitly",
        Rule.NAMED: f"the baseline {name}",
        Rule.DEFAULT: f"the baseline {name}, the default of this target and suite",
        Rule.EARLIER: "the newest earlier version with a completed run of this suite",
        Rule.NONE: "no baseline is the default of this target and suite, "
        "and no earlier version has a completed run of it",
    }[rule]


def short_rule(name: str) -> str:
    """Say in a word or two what a run of a list was measured against; ``name`` is "" for no named baseline."""
    return name or "earlier version"
