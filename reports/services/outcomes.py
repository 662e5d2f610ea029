"""Keeping the outcomes of runs for comparisons: gathered once, when the cases of a run have come to rest."""

import uuid

from reports import payloads
from reports.domain.outcomes import Outcomes
from reports.models import CaseOutcomes, Run
from reports.selectors.outcomes import gather_outcomes, kept_outcomes


def keep_outcomes(*, run_pk: uuid.UUID) -> None:
    """Gather and keep the outcomes of a run at rest that has none yet; safe to repeat."""
    generation = _generation(run_pk)
    if generation is not None and not kept_outcomes([generation]):
        _keep(generation, gather_outcomes(generation=generation))


def wrong_outcomes(*, run_pk: uuid.UUID, repair: bool) -> bool:
    """Tell whether what is kept of a run is not what its cases say; with ``repair`` it is put right."""
    generation = _generation(run_pk)
    if generation is None:
        return False
    expected = gather_outcomes(generation=generation)
    is_wrong = kept_outcomes([generation]).get(generation) != expected
    if is_wrong and repair:
        _keep(generation, expected)
    return is_wrong


def _generation(run_pk: uuid.UUID) -> int | None:
    return Run.objects.filter(pk=run_pk).at_rest().values_list("generation_id", flat=True).first()


def _keep(generation: int, outcomes: Outcomes) -> None:
    """Write the row in one statement: two processes may gather the same run at once."""
    CaseOutcomes.objects.bulk_create(
        [CaseOutcomes(generation_id=generation, payload=payloads.pack(outcomes.to_data()))],
        update_conflicts=True,
        unique_fields=["generation"],
        update_fields=["payload"],
    )
