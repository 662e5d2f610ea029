"""What stays in memory: as much as has room, the oldest gives way."""

from reports.selectors.kept import Kept


def test_the_one_not_asked_for_the_longest_gives_way() -> None:
    kept: Kept[str] = Kept(10)
    kept.put("a", "A", 5)
    kept.put("b", "B", 5)
    assert kept.get("a") == "A"

    kept.put("c", "C", 4)

    assert [kept.get(key) for key in "abc"] == ["A", None, "C"]
    assert kept.weight == 9


def test_what_is_too_heavy_alone_is_given_back_and_not_kept() -> None:
    kept: Kept[str] = Kept(10)
    kept.put("a", "A", 3)

    assert kept.put("heavy", "H", 11) == "H"

    assert kept.get("heavy") is None
    assert kept.get("a") == "A"


def test_a_value_put_again_weighs_once() -> None:
    kept: Kept[str] = Kept(10)
    kept.put("a", "A", 6)
    kept.put("a", "B", 7)

    assert (kept.get("a"), kept.weight) == ("B", 7)
