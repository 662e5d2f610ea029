import pytest
from evalrunner.compare import ClusterChange, Sample, clusters_of


def failing(**counts: int) -> Sample:
    return Sample(("failed",) * sum(counts.values()), tuple(sorted(counts.items())))


NOTHING = Sample()


@pytest.mark.parametrize(
    ("pairs", "change"),
    [
        ([(NOTHING, failing(x=1))], ClusterChange.NEW),
        ([(failing(x=3), NOTHING)], ClusterChange.GONE),
        ([(failing(x=1), failing(x=1)), (NOTHING, failing(x=1))], ClusterChange.GROWN),
        ([(failing(x=1), failing(x=3))], ClusterChange.GROWN),
        ([(failing(x=3), failing(x=1)), (failing(x=1), NOTHING)], ClusterChange.SHRUNK),
        ([(failing(x=2), failing(x=2))], ClusterChange.SAME),
    ],
)
def test_a_cluster_is_told_by_its_variants_then_by_its_cases(
    pairs: list[tuple[Sample, Sample]], change: ClusterChange
) -> None:
    (cluster,) = clusters_of(pairs)

    assert cluster.change is change


def test_both_sides_are_counted_in_variants_and_in_cases() -> None:
    (cluster,) = clusters_of([(failing(x=3), failing(x=1)), (NOTHING, failing(x=2))])

    assert (cluster.baseline_variants, cluster.candidate_variants) == (1, 2)
    assert (cluster.baseline_cases, cluster.candidate_cases) == (3, 3)


def test_new_clusters_come_first_and_the_widest_of_them_foremost() -> None:
    wide, narrow, old = failing(wide=1), failing(narrow=9), failing(old=1)

    found = clusters_of([(old, NOTHING), (NOTHING, narrow), (NOTHING, wide), (NOTHING, wide)])

    assert [cluster.signature for cluster in found] == ["wide", "narrow", "old"]


def test_clusters_that_tie_stand_in_the_order_in_which_they_appear_whatever_their_keys() -> None:
    found = clusters_of([(NOTHING, Sample(("failed",) * 2, (("z", 1), ("a", 1)))), (NOTHING, failing(m=1))])

    assert [cluster.signature for cluster in found] == ["z", "a", "m"]
