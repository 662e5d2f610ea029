"""A comparison without a pair: what is missing or wrong, and pairs that could be compared at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from reports.pages.compare_frame import Address, offer_words
from reports.pages.parts import Action, Choice, Empty
from reports.selectors.compare_filters import RowFilters
from reports.selectors.compare_menus import Neighbours, Offer
from reports.selectors.compare_sides import Side


@dataclass(frozen=True, slots=True)
class Half:
    """The one side that was chosen, and what else there is of its target and suite.

    ``rule`` says which baseline the rules find for a candidate, "" for none.
    """

    role: str
    side: Side
    offers: tuple[Offer, ...]
    rule: str = ""


@dataclass(frozen=True, slots=True)
class SuggestionLine:
    target_id: str
    suite_name: str
    names: str
    href: str


@dataclass(frozen=True, slots=True)
class ChoosePage:
    """No pair yet: what is missing or wrong, and pairs that could be compared at once.

    ``half`` names the side that is there (in stored form, "" for none); ``completions`` are what could stand beside it.
    """

    sentence: str
    is_fault: bool
    half: str
    completions: tuple[Choice, ...]
    suggestions: tuple[SuggestionLine, ...]
    empty: Empty


def choose_page(pairs: Sequence[Neighbours], sentence: str, *, is_fault: bool, half: Half | None = None) -> ChoosePage:
    find = Action("Choose two runs", reverse("runs"))
    return ChoosePage(
        sentence=sentence,
        is_fault=is_fault,
        half=f"{half.side.target_id} @ {half.side.label or half.side.fingerprint}" if half else "",
        completions=_completions(half) if half else (),
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


def _completions(half: Half) -> tuple[Choice, ...]:
    chosen = str(half.side.token)
    others = (offer for offer in half.offers if offer.side != chosen)
    listed = (Choice(offer_words(offer), _completed(half.role, chosen, offer.side)) for offer in others)
    by_rule = (Choice(f"Its baseline: {half.rule}", _completed(half.role, chosen, "baseline")),) if half.rule else ()
    return (*by_rule, *listed)


def _completed(role: str, chosen: str, other: str) -> str:
    baseline, candidate = (chosen, other) if role == "baseline" else (other, chosen)
    return Address(baseline, candidate, 0, RowFilters()).page()
