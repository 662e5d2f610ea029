"""The mark that a note leaves beside what it covers: its state, and whether attention is needed all the same."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.urls import reverse

from reports.domain.attention import Standing
from reports.selectors.notes import NoteWords

_STANDINGS: Mapping[Standing, str] = {
    Standing.COVERED: "",
    Standing.NEW: "",
    Standing.STILL_FAILS: "still fails",
    Standing.FAILS_DIFFERENTLY: "fails differently",
    Standing.LOST: "not decided now",
    Standing.PASSES: "",
}
_UNKNOWN = (Standing.FAILS_DIFFERENTLY, Standing.LOST)


@dataclass(frozen=True, slots=True)
class NoteMark:
    """``state`` in words; ``alarm`` says why attention is needed although there is a note. Texts in stored form.

    ``href`` opens the note's form, or the form of a new one where there is no note (``state`` is "" then); "" for
    readers who may not write.
    """

    state: str
    alarm: str
    owner: str
    text: str
    href: str


def note_mark(words: NoteWords | None, standing: Standing, *, new_href: str, may_write: bool) -> NoteMark:
    if words is None:
        return NoteMark("", "", "", "", new_href if may_write else "")
    href = reverse("note", args=[words.pk]) if may_write else reverse("notes")
    if may_write and standing in _UNKNOWN and new_href:
        href = new_href  # leads on to the note, which can then be told to cover what it does not know
    return NoteMark(words.state, _STANDINGS[standing], words.owner, words.text, href)
