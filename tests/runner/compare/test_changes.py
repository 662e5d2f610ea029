import itertools

import pytest
from evalrunner.compare import FOLDED, IMPROVEMENTS, MIRROR, REGRESSIONS, Change, Group, Tally, classify, group_of


def change(baseline: str, candidate: str, *, shares: bool = True) -> Change:
    """Classify two sides written as letters: P passed, F failed or error, U undecided."""
    sides = [Tally(side.count("P"), len(side) - side.count("U"), side.count("U")) for side in (baseline, candidate)]
    return classify(*sides, shares_signature=shares)


@pytest.mark.parametrize(
    ("baseline", "candidate", "expected"),
    [
        ("PPP", "FFF", Change.BROKEN),
        ("P", "FU", Change.BROKEN),
        ("PPP", "PPF", Change.UNSTABLE),
        ("PPPU", "PPF", Change.UNSTABLE),
        ("FFF", "PPP", Change.FIXED),
        ("PPF", "PPP", Change.STABILISED),
        ("PPF", "PFF", Change.WORSE),
        ("PF", "FF", Change.WORSE),
        ("FF", "PF", Change.BETTER),
        ("PFF", "PPF", Change.BETTER),
        ("FFF", "F", Change.FAILING),
        ("PPP", "P", Change.STEADY),
        ("PF", "PPFF", Change.STEADY),
        ("PPP", "UUU", Change.LOST),
        ("FFF", "U", Change.LOST),
        ("UUU", "P", Change.GAINED),
        ("UUU", "UU", Change.UNDECIDED),
        ("", "U", Change.ADDED),
        ("", "FFF", Change.ADDED),
        ("PPP", "", Change.REMOVED),
    ],
)
def test_the_class_follows_from_passed_and_decided(baseline: str, candidate: str, expected: Change) -> None:
    assert change(baseline, candidate) == expected
    assert change(candidate, baseline) == MIRROR[expected]


def test_failing_in_no_common_way_is_failing_differently() -> None:
    assert change("FFF", "FF", shares=False) == Change.FAILING_DIFFERENTLY


def test_a_common_signature_matters_only_where_both_sides_always_failed() -> None:
    sides = ["".join(side) for size in range(1, 4) for side in itertools.combinations_with_replacement("PFU", size)]

    for baseline, candidate in itertools.product(sides, repeat=2):
        changes = {change(baseline, candidate, shares=shares) for shares in (True, False)}
        assert len(changes) == 1 or changes == {Change.FAILING, Change.FAILING_DIFFERENTLY}


def test_nothing_on_either_side_is_refused() -> None:
    with pytest.raises(ValueError, match="without a case"):
        change("", "")


def test_the_mirror_of_the_mirror_is_the_class_itself() -> None:
    assert all(MIRROR[MIRROR[each]] == each for each in Change)
    assert {MIRROR[each] for each in REGRESSIONS} == IMPROVEMENTS


def test_every_class_has_its_group_and_redefined_rows_stand_apart() -> None:
    assert {group_of(each, is_redefined=False) for each in Change} == set(Group) - {Group.REDEFINED}
    assert {group_of(each, is_redefined=True) for each in Change} == {Group.REDEFINED}
    assert {group_of(each, is_redefined=False) for each in REGRESSIONS | IMPROVEMENTS}.isdisjoint(FOLDED)
