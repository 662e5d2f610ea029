"""A comparison without a pair: what is missing or wrong, and pairs that could be compared at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from reports.pages.compare_frame import Address
from reports.pages.parts import Action, Empty
from reports.selectors.compare_filters import RowFilters
from reports.selectors.compare_menus import Neighbours


@dataclass(frozen=True, slots=True)
class SuggestionLine:
    target_id: str
    suite_name: str
    names: str
    href: str


@dataclass(frozen=True, slots=True)
class ChoosePage:
    """No pair yet: what is missing or wrong, and pairs that could be compared at once."""

    sentence: str
    is_fault: bool
    suggestions: tuple[SuggestionLine, ...]
    empty: Empty


def choose_page(pairs: Sequence[Neighbours], sentence: str, *, is_fault: bool) -> ChoosePage:
    find = Action("Choose two runs", reverse("runs"))
    return ChoosePage(
        sentence=sentence,
        is_fault=is_fault,
        suggestions=tuple(
            SuggestionLine(
                pair.target_id,
                pair.suite_name,
                " → ".join(each.label or each.fingerprint for each in (pair.baseline, pair.candidate)),
                Address(pair.baseline.side, pair.candidate.side, 0, RowFilters()).page(),
            )
            for pair in pairs
        ),
        empty=Empty(
            "Choose two to compare",
            "Tick two runs in the list, or put a run or a version into the tray with “Use as baseline”.",
            (find,),
        ),
    )
