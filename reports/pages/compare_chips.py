"""The filters of a comparison's rows, as chips."""

from collections.abc import Mapping

from evalrunner.compare import Change, Group

from reports.domain.grammar import sign_of
from reports.pages.compare_frame import Address
from reports.pages.parts import Chip, Choice
from reports.selectors import compare_filters as filtering
from reports.selectors.compare import StoredComparison
from reports.selectors.compare_filters import EVERYTHING, RowFilters
from reports.selectors.compare_rows import SignatureWords


def filter_chips(
    stored: StoredComparison, filters: RowFilters, address: Address, words: Mapping[str, SignatureWords]
) -> tuple[Chip, ...]:
    """Return the filters of the rows: class, tag, and what the matrix or a cluster has chosen."""
    chips = [_class_chip(stored, filters, address)]
    if tags := filtering.tags_of(stored):
        choices = (Choice(tag, address.filtered(filters.but(tag=tag)), tag == filters.tag) for tag in tags)
        chips.append(Chip("Tag", filters.tag, tuple(choices), address.filtered(filters.but(tag=""))))
    if filters.before or filters.after:
        cell = f"{filters.before or 'anything'} → {filters.after or 'anything'}"
        hint = "Choose another cell of the matrix above."
        chips.append(Chip("Cases", cell, (), address.filtered(filters.but(before="", after="")), hint))
    if filters.signature:
        name = next((each.words for each in words.values() if each.key == filters.signature), "one failure signature")
        chips.append(Chip("Failure", name, (), address.filtered(filters.but(signature=""))))
    if filters.scenario:
        names = (stored.variants[row.variant] for row in stored.result.rows)
        name = next((each.scenario_id for each in names if each.scenario_key == filters.scenario), "another one")
        chips.append(Chip("Scenario", name, (), address.filtered(filters.but(scenario=""))))
    return tuple(chips)


def _class_chip(stored: StoredComparison, filters: RowFilters, address: Address) -> Chip:
    counts = stored.result.counts()
    choices = [
        Choice(
            sign_of(change, "change").word,
            address.filtered(filters.but(only=str(change))),
            filters.only == change,
            sign_of(change, "change"),
            counts[change],
        )
        for change in sorted(Change, key=lambda each: sign_of(each, "change").order)
    ]
    redefined = Choice(
        "redefined",
        address.filtered(filters.but(only=str(Group.REDEFINED))),
        filters.only == Group.REDEFINED,
        count=stored.result.redefined,
    )
    everything = Choice(
        "all rows",
        address.filtered(filters.but(only=EVERYTHING)),
        filters.only == EVERYTHING,
        count=len(stored.result.rows),
    )
    value = filters.only.replace("_", " ")
    return Chip("Class", value, (*choices, redefined, everything), address.filtered(filters.but(only="")))


def hidden_members(address: Address) -> tuple[tuple[str, str], ...]:
    """Return what the text form must carry along."""
    return tuple((name, value) for name, value in address.query().items() if name != "q")
