"""The pages before a run is resumed or retried: what will happen to which cases, and what external writes left."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from reports.domain.continuation import CONCLUDE, Outlook, Verb, sentences_of
from reports.domain.json_tree import JsonNode, json_tree
from reports.models import Run
from reports.pages.parts import Crumb, Fact
from reports.pages.path_links import raw_href
from reports.pages.run_links import case_href, run_crumbs
from reports.pages.run_words import concurrency_words, variants_words
from reports.runnable import TargetEntry
from reports.selectors.continuation import Receipt, list_receipts
from reports.services.continuing import CannotContinue, Prospect
from reports.text import storable

RECEIPTS_SHOWN = 25  # cases; more are counted
_NODES = 60  # of each observation and checkpoint
_NAMES_SHOWN = 12

TITLES = {Verb.RESUME: "Resume this run", Verb.RETRY: "Retry what failed"}
_MEANINGS = {
    Verb.RESUME: (
        "A new run, linked to this one, goes on with what never ended. What has ended is taken over untouched."
    ),
    Verb.RETRY: (
        "A new run, linked to this one, holds failed, errored, blocked and cancelled conversations anew. This run "
        "stays as it is, and rates go on counting the first decided attempt of each case: no retry improves a rate."
    ),
}


@dataclass(frozen=True, slots=True)
class CaseLink:
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Consequence:
    """One kind of what happens: a sentence, and the first cases that it is about."""

    sentence: str
    cases: tuple[CaseLink, ...]
    left: int


@dataclass(frozen=True, slots=True)
class ContinuePage:
    """``refusal`` says why it cannot be done; then there is no form. ``faults`` are those of a request just made.

    ``nothing`` says why there is no use in it; ``button`` is "" then, unless the reader may authorise what would be of
    use.
    """

    run: Run
    verb: str
    title: str
    meaning: str
    crumbs: tuple[Crumb, ...]
    refusal: str
    faults: tuple[str, ...]
    consequences: tuple[Consequence, ...]
    nothing: str
    button: str
    key: str
    receipts_href: str
    receipts_words: str
    asks_to_write: bool
    may_write: bool
    writes_allowed: bool
    write_help: str
    facts: tuple[Fact, ...]
    run_href: str
    rerun_href: str


def continue_page(
    run: Run,
    verb: Verb,
    ahead: Prospect | CannotContinue,
    *,
    is_admin: bool,
    writes_allowed: bool = False,
    key: str = "",
    faults: Sequence[str] = (),
) -> ContinuePage:
    """Decide all that the page shows; ``ahead`` is what would happen, or why nothing can."""
    is_refused = isinstance(ahead, CannotContinue)
    outlook = Outlook() if isinstance(ahead, CannotContinue) else ahead.outlook
    asks_to_write = bool(outlook.unauthorised) or writes_allowed
    may_write = not isinstance(ahead, CannotContinue) and is_admin and ahead.external_allowed
    return ContinuePage(
        run=run,
        verb=verb,
        title=TITLES[verb],
        meaning=_MEANINGS[verb],
        crumbs=run_crumbs(run, Crumb(TITLES[verb])),
        refusal=storable(ahead.sentence) if isinstance(ahead, CannotContinue) else "",
        faults=tuple(map(storable, faults)),
        consequences=_consequences(run, outlook),
        nothing=_nothing(outlook) if not is_refused else "",
        button=_button_words(verb, outlook, may_write=may_write) if not is_refused else "",
        key=key or uuid.uuid4().hex,
        receipts_href=receipts_href(run, verb) if outlook.to_reconcile else "",
        receipts_words=_receipts_words(len(outlook.to_reconcile)),
        asks_to_write=asks_to_write,
        may_write=may_write,
        writes_allowed=writes_allowed,
        write_help="" if isinstance(ahead, CannotContinue) else _write_help(ahead.entry, is_admin),
        facts=() if isinstance(ahead, CannotContinue) else _facts(ahead),
        run_href=reverse("run", args=[run.pk]),
        rerun_href=f"{reverse('new-run')}?{urlencode({'rerun': str(run.pk)})}",
    )


def receipts_href(run: Run, verb: Verb) -> str:
    return reverse("run-receipts", args=[run.pk, verb])


def _consequences(run: Run, outlook: Outlook) -> tuple[Consequence, ...]:
    groups = [outlook.fresh, outlook.continued, *outlook.blocked.values(), outlook.kept]
    sentences = sentences_of(outlook)
    places = [group for group in groups if group]
    places += [()] * (len(sentences) - len(places))  # the last sentence may be about the run as a whole
    return tuple(
        Consequence(sentence, *_links(run, group if group is not outlook.kept else ()))
        for sentence, group in zip(sentences, places, strict=True)
    )


def _links(run: Run, places: Sequence[int]) -> tuple[tuple[CaseLink, ...], int]:
    links = tuple(CaseLink(f"case {place + 1:,}", case_href(run, place)) for place in places[:_NAMES_SHOWN])
    return links, len(places) - len(links)


def _nothing(outlook: Outlook) -> str:
    if not outlook.is_idle:
        return ""
    if outlook.unauthorised:
        return "No case would be executed unless external writes are allowed."
    if outlook.changed:
        return "No case would be executed, so there is no use in it."
    return "Nothing: no case would end otherwise than it did."


def _button_words(verb: Verb, outlook: Outlook, *, may_write: bool) -> str:
    if outlook.only_concludes:
        return CONCLUDE
    word = "Retry" if verb is Verb.RETRY else "Resume"
    if not outlook.work:
        return f"{word} with external writes" if outlook.unauthorised and may_write else ""
    return f"{word} {outlook.work:,} case{'' if outlook.work == 1 else 's'}"


def _receipts_words(count: int) -> str:
    if count == 1:
        return "1 case wrote outside, or may have: look at its receipts"
    return f"{count:,} cases wrote outside, or may have: look at their receipts"


def _write_help(entry: TargetEntry, is_admin: bool) -> str:
    if not entry.allows_external_writes:
        return "This target is registered without external writes; they cannot be authorised."
    if not is_admin:
        return "Only an admin of the team may authorise them, anew for each run."
    return "Cases that write outside and never began really do so then. What was authorised before does not count."


def _facts(ahead: Prospect) -> tuple[Fact, ...]:
    options = ahead.options
    return (
        Fact("Registered target", storable(ahead.entry.name)),
        Fact("Fingerprint", storable(ahead.earlier.fingerprint), is_mono=True),
        Fact("Concurrency", concurrency_words(options, ahead.outlook.work)),
        Fact("Turns ahead, at most", f"{ahead.outlook.turns:,}"),
        Fact("Early alarm", "on" if options.early_alarm else "off"),
    )


# ------------------------------------------------------------------------------------------------------------- receipts


@dataclass(frozen=True, slots=True)
class Trace:
    """What one turn left behind: what the target observed, and the checkpoint from which it would go on."""

    title: str
    status: str
    observation: JsonNode | None
    checkpoint: JsonNode | None
    observation_href: str
    checkpoint_href: str


@dataclass(frozen=True, slots=True)
class ReceiptView:
    title: str
    what: str
    status: str
    href: str
    traces: tuple[Trace, ...]
    words: str


@dataclass(frozen=True, slots=True)
class ReceiptsPage:
    """``rerun_href`` opens the form with the scenarios of these cases, to be run afresh once somebody has looked."""

    run: Run
    crumbs: tuple[Crumb, ...]
    refusal: str
    sentence: str
    receipts: tuple[ReceiptView, ...]
    left: int
    back_href: str
    rerun_href: str
    may_authorise: bool


def receipts_page(run: Run, verb: Verb, ahead: Prospect | CannotContinue, *, is_admin: bool) -> ReceiptsPage:
    """Show what the cases that are blocked for reconciliation have left."""
    places = () if isinstance(ahead, CannotContinue) else ahead.outlook.to_reconcile
    receipts = list_receipts(run, places[:RECEIPTS_SHOWN])
    back_href = reverse("continue-run", args=[run.pk, verb])
    return ReceiptsPage(
        run=run,
        crumbs=run_crumbs(run, Crumb(TITLES[verb], back_href), Crumb("Receipts of external writes")),
        refusal=storable(ahead.sentence) if isinstance(ahead, CannotContinue) else "",
        sentence=_reconcile_sentence(len(places)),
        receipts=tuple(_receipt_view(run, receipt) for receipt in receipts),
        left=len(places) - len(receipts),
        back_href=back_href,
        rerun_href=_rerun_href(run, receipts),
        may_authorise=is_admin and not isinstance(ahead, CannotContinue) and ahead.external_allowed,
    )


def _reconcile_sentence(count: int) -> str:
    if not count:
        return "No case of this run has anything to reconcile."
    if count == 1:
        return (
            "1 case stays blocked: it writes outside, and nobody but you can tell whether it already did. The runner "
            "never repeats it by itself. Compare what it left with the system that it writes to; then run its scenario "
            "afresh."
        )
    return (
        f"{count:,} cases stay blocked: they write outside, and nobody but you can tell whether they already did. The "
        "runner never repeats them by itself. Compare what they left with the system that they write to; then run "
        "their scenarios afresh."
    )


def _receipt_view(run: Run, receipt: Receipt) -> ReceiptView:
    traces = tuple(_trace(run, receipt, place) for place in range(len(receipt.turns)))
    parts = (variants_words(receipt.variants), f"repetition {receipt.repetition + 1}")
    return ReceiptView(
        title=receipt.scenario_id,
        what=" · ".join(part for part in (receipt.name, *parts) if part),
        status=receipt.status,
        href=case_href(run, receipt.position),
        traces=traces,
        words="" if traces else "No turn was stored: the write may have been in flight when the run ended.",
    )


def _trace(run: Run, receipt: Receipt, place: int) -> Trace:
    turn = receipt.turns[place]
    return Trace(
        title=f"Turn {place + 1}: {storable(turn['stepId'])}",
        status=turn["status"],
        observation=json_tree(turn["observation"], budget=_NODES) if "observation" in turn else None,
        checkpoint=json_tree(turn["checkpoint"], budget=_NODES) if "checkpoint" in turn else None,
        observation_href=_part_href(run, receipt, f"{place}.observation"),
        checkpoint_href=_part_href(run, receipt, f"{place}.checkpoint"),
    )


def _part_href(run: Run, receipt: Receipt, part: str) -> str:
    """Return the address to which the JSON pointer of what a tree leaves out is appended."""
    return f"{raw_href(run, receipt.position, part)}&pointer="


def _rerun_href(run: Run, receipts: Sequence[Receipt]) -> str:
    scenarios = list(dict.fromkeys(receipt.scenario_id for receipt in receipts))
    members = {"rerun": str(run.pk), "only": "failures", "scenarios": scenarios}
    return f"{reverse('new-run')}?{urlencode(members, doseq=True)}"
