"""Notes on a comparison: beside clusters and rows, and how much of what got worse still needs attention."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalrunner.compare import REGRESSIONS, Change, Cluster, Row

from reports.domain.attention import Found, Standing
from reports.models import Team
from reports.pages.compare_frame import Address
from reports.pages.note_marks import NoteMark, note_mark
from reports.pages.notes import new_note_href
from reports.selectors.compare_rows import SignatureWords
from reports.selectors.compare_verdict import Judged
from reports.selectors.notes import NotedSide, NoteWords, note_words

_WORSE = REGRESSIONS | {Change.LOST}


def attention_words(judged: Judged) -> str:
    """Say how many of the scenario variants that got worse or were lost no note covers; "" where none did."""
    worse = [row for row in judged.stored.result.rows if row.change in _WORSE and not row.is_redefined]
    if not worse:
        return ""
    needed = sum(not judged.is_known(row) for row in worse)
    whole = f"{len(worse):,} got worse or {'was' if len(worse) == 1 else 'were'} lost"
    if not needed:
        return f"{whole}, none needs attention."
    return f"{whole}, {needed:,} {'needs' if needed == 1 else 'need'} attention."


@dataclass(frozen=True, slots=True)
class NoteMarks:
    """What is noted on the rows and clusters of one page of a comparison."""

    judged: Judged
    noted: NotedSide
    words: Mapping[int, NoteWords]
    address: Address
    may_write: bool

    @classmethod
    def of(cls, judged: Judged, noted: NotedSide, address: Address, *, team: Team, may_write: bool) -> "NoteMarks":
        """Read the notes that hold for the candidate; one query where there are any."""
        return cls(judged, noted, note_words(team=team, pks=[note.pk for note in noted.notes]), address, may_write)

    def on_row(self, row: Row[int], key: str) -> NoteMark:
        """Return the mark of a row whose scenario variant has a key; without note or failure there is nothing."""
        is_lost = row.change is Change.LOST
        signatures = [signature for signature, _number in row.candidate.signatures]
        found = self.noted.found(row.variant, signatures, is_lost=is_lost)
        is_open = bool(row.candidate.signatures) or is_lost
        anchor = f"{self.address.page()}#row-{key}"
        return self._mark(found, self._new_href(anchor, variant=key) if is_open else "")

    def on_cluster(self, cluster: Cluster, named: SignatureWords) -> NoteMark:
        note = next((note for note in self.noted.notes if note.signature == named.pk), None)
        is_unfixed = note is not None and note.state == "fixed_verify" and cluster.candidate_cases > 0
        found = Found(Standing.STILL_FAILS if is_unfixed else Standing.COVERED, note.pk) if note else None
        anchor = f"{self.address.page()}#clusters"
        return self._mark(found, self._new_href(anchor, signature=named.key) if cluster.candidate_cases else "")

    def _mark(self, found: Found | None, new_href: str) -> NoteMark:
        words = self.words.get(found.note) if found and found.note else None
        standing = found.standing if found else Standing.NEW
        return note_mark(words, standing, new_href=new_href, may_write=self.may_write)

    def _new_href(self, following: str, *, variant: str = "", signature: str = "") -> str:
        side = self.judged.stored.candidate
        is_run = side.token.kind == "run"
        return new_note_href(
            target=side.target,
            run=side.newest.pk if is_run else "",
            version=0 if is_run else side.version,
            variant=variant,
            signature=signature,
            following=following,
        )
