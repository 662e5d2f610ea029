"""The scenarios of a suite revision as comparisons name them: read once, for a revision never changes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import TextField
from django.db.models.functions import Cast

from reports.models import Scenario
from reports.selectors.kept import Kept

_MOST_SCENARIOS = 30_000


@dataclass(frozen=True, slots=True)
class ScenarioFacts:
    """A scenario as one suite revision describes it; texts in stored form.

    ``digest`` is its definition digest: while it stays, results compare.
    """

    name: str
    tags: tuple[str, ...]
    digest: str


_KEPT: Kept[Mapping[str, ScenarioFacts]] = Kept(_MOST_SCENARIOS)


def revision_facts(*, pk: int, digest: str) -> Mapping[str, ScenarioFacts]:
    """Return the scenarios of a revision by their key; ``digest`` is that of its whole content."""
    found = _KEPT.get(digest)
    if found is None:
        rows = Scenario.objects.filter(revision=pk).annotate(text=Cast("tags", TextField()))
        columns = ("key", "name", "text", "definition_digest")
        found = {
            key: ScenarioFacts(name, _tags(tags), each)
            for key, name, tags, each in rows.values_list(*columns).iterator(chunk_size=5_000)
        }
        _KEPT.put(digest, found, len(found))
    return found


@lru_cache(maxsize=4_096)
def _tags(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
