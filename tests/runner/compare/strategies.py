"""Random sides of a comparison: small, and rich in repetitions, undecided cases and repeated places."""

from evalrunner.compare import STATUS_ORDER, CaseOutcome, RunFacts, RunOutcomes, VariantId
from hypothesis import strategies as st

variants = st.builds(VariantId, st.sampled_from(["book", "cancel", "pay"]), st.sampled_from([(), (("ask", "polite"),)]))
outcomes = st.builds(
    CaseOutcome,
    variant=variants,
    repetition=st.integers(0, 3),
    place=st.just(0),
    status=st.sampled_from([str(status) for status in STATUS_ORDER]),
    signature=st.sampled_from(["one", "two", "three"]),
)


def facts(run_id: str = "run", *, resumed_from: str = "", started_at: str = "2026-03-02T09:05:00.000Z") -> RunFacts:
    return RunFacts(
        run_id=run_id,
        target_id="desk.agent",
        fingerprint="v1",
        suite_id="desk",
        suite_revision="r1",
        started_at=started_at,
        resumed_from=resumed_from,
    )


def placed(cases: list[CaseOutcome]) -> list[CaseOutcome]:
    """Give each case its place in the list; only failures have a signature."""
    failing = ("failed", "error")
    return [
        case._replace(place=place, signature=case.signature if case.status in failing else "")
        for place, case in enumerate(cases)
    ]


sides = st.lists(outcomes, max_size=14).map(placed).map(lambda cases: [RunOutcomes(facts(), cases)])
