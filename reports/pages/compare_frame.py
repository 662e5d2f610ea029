"""What the two comparison pages share: addresses, the tokens of both sides, and what does not compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare import Difference, difference_in_words
from evalrunner.compare.renderings.shared import left_out_words

from reports.domain.wording import day_in_words
from reports.pages.parts import Choice, Crumb, VersionName
from reports.selectors.baselines import BaselineRow
from reports.selectors.compare_filters import RowFilters
from reports.selectors.compare_menus import Offer
from reports.selectors.compare_sides import Side


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a comparison: both sides, the suite it is restricted to (0 for none), and the filter."""

    baseline: str
    candidate: str
    suite: int
    filters: RowFilters

    def query(self, **members: str) -> dict[str, str]:
        named = {"baseline": self.baseline, "candidate": self.candidate, "suite": str(self.suite or "")}
        named |= self.filters.query() | members
        return {name: value for name, value in named.items() if value}

    def page(self, **members: str) -> str:
        """Return the address of the comparison, kept filter included."""
        return f"{reverse('compare')}?{urlencode(self.query(**members))}"

    def case(self, variant: str, **members: str) -> str:
        """Return the address of the side by side of a scenario variant, from which the filter leads on."""
        return f"{reverse('compare-case')}?{urlencode(self.query(variant=variant, **members))}"

    def filtered(self, filters: RowFilters) -> str:
        return type(self)(self.baseline, self.candidate, self.suite, filters).page()

    def swapped(self) -> Self:
        """Return the mirrored comparison; the filter is mirrored too as far as it names a cell."""
        mirrored = self.filters.but(only="", before=self.filters.after, after=self.filters.before)
        return type(self)(self.candidate, self.baseline, self.suite, mirrored)


@dataclass(frozen=True, slots=True)
class TokenView:
    """One side as a chip: its name, what it is, how it was found, and the menus that replace it."""

    role: str
    version: VersionName
    detail: str
    href: str
    versions: tuple[Choice, ...]
    runs: tuple[Choice, ...]
    revisions: tuple[Choice, ...]
    rule: str
    baselines: tuple[Choice, ...]
    pinned: tuple[str, ...]
    is_follow_up: bool
    baseline_href: str


@dataclass(frozen=True, slots=True)
class Menus:
    """What could stand on either side instead."""

    versions: tuple[Offer, ...]
    runs: tuple[Offer, ...]
    baselines: tuple[BaselineRow, ...]


def token_view(role: str, side: Side, address: Address, menus: Menus, rule: str) -> TokenView:
    """Return the chip of one side; ``role`` is "baseline" or "candidate", ``rule`` says how it was found."""
    versions, runs = menus.versions, menus.runs
    named = {run.pk for run in side.runs} if side.token.kind == "version" else {side.newest.pk}
    return TokenView(
        role=role,
        version=VersionName(side.target_id, side.fingerprint, side.label),
        detail=side_words(side),
        href=reverse("run", args=[side.newest.pk]) if side.token.kind == "run" else "",
        versions=tuple(_choice(role, side, offer, address) for offer in versions),
        runs=tuple(_choice(role, side, offer, address) for offer in runs),
        revisions=_revisions(role, side, address) if side.token.kind == "version" else (),
        rule=rule,
        baselines=tuple(
            Choice(f"{each.name} · {each.label or each.fingerprint}", address.page(**{role: f"baseline:{each.name}"}))
            for each in menus.baselines
        ),
        pinned=tuple(each.name for each in menus.baselines if each.run in named),
        is_follow_up=side.is_follow_up,
        baseline_href=reverse("baseline", args=[side.newest.pk]),
    )


def side_words(side: Side) -> str:
    """Say what a side is: a run with its day and what it continues, or how many runs a version pools."""
    number = len(side.runs)
    if side.token.kind == "run":
        attempts = f"; {number - 1} earlier attempt{' counts' if number == 2 else 's count'} too" if number > 1 else ""
        return f"run of {day_in_words(side.newest.ordered_at)}, {side.newest.status}{attempts}"
    runs = f"{number} run{'' if number == 1 else 's pooled'}{left_out_words(len(side.left_out))}"
    return f"version, {runs}, revision {side.revision.digest[:8]}"


def _choice(role: str, side: Side, offer: Offer, address: Address) -> Choice:
    token = side.token
    is_chosen = offer.side in (str(token), f"version:{token.version}")
    return Choice(offer_words(offer), address.page(**{role: offer.side}), is_chosen)


def offer_words(offer: Offer) -> str:
    """Name a run by its version, day, status and counts; a version by itself."""
    name = offer.label or offer.fingerprint
    if offer.run is None:
        return name
    return f"{name} · {day_in_words(offer.at)} · {offer.status} · {offer.passed} of {offer.decided}"


def _revisions(role: str, side: Side, address: Address) -> tuple[Choice, ...]:
    if len(side.revisions) < 2:
        return ()
    return tuple(
        Choice(
            f"{revision.suite_id} {revision.digest[:8]}, last run {day_in_words(revision.newest_at)}",
            address.page(**{role: f"version:{side.version}:{revision.pk}"}),
            revision == side.revision,
        )
        for revision in side.revisions
    )


def comparison_crumbs(baseline: Side, candidate: Side, *further: Crumb, href: str = "") -> tuple[Crumb, ...]:
    """Return the breadcrumb: the target, then both versions."""
    names = " → ".join(side.label or side.fingerprint for side in (baseline, candidate))
    target = Crumb(candidate.target_id, reverse("target", args=[candidate.target]))
    return (Crumb("Compare", reverse("compare")), target, Crumb(names, href), *further)


def differences_in_words(differences: tuple[Difference, ...], redefined: int, accepted: int = 0) -> tuple[str, ...]:
    """Say what is not comparable; texts from outside stand in them in stored form."""
    words = [difference_in_words(difference) for difference in differences]
    if redefined:
        rows = "1 scenario variant is" if redefined == 1 else f"{redefined:,} scenario variants are"
        words.append(f"{rows} measured by a changed definition; left out of the rates.")
    if accepted:
        words.append(f"{accepted:,} changed definition{' was' if accepted == 1 else 's were'} accepted; they count.")
    return tuple(words)


def chosen_words(chosen: Mapping[str, str]) -> str:
    """Return the chosen variants: "search: polite, select: first"; "" where the scenario has none."""
    return ", ".join(f"{step}: {variant}" for step, variant in chosen.items())
