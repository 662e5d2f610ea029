"""Taking ``<think>…</think>`` blocks out of an answer that arrives in pieces."""

from __future__ import annotations

from typing import Final

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class ThinkFilter:
    """Lets text through except what stands in think blocks; a mark may be spread over several pieces.

    A block that is never closed is dropped to the end.
    """

    def __init__(self) -> None:
        self._held = ""
        self._is_thinking = False

    def feed(self, piece: str) -> str:
        """Take the next piece and give what can be told to be no thought."""
        self._held += piece
        shown = ""
        while True:
            mark = _CLOSE if self._is_thinking else _OPEN
            before, found, after = self._held.partition(mark)
            if not found:
                break
            shown += "" if self._is_thinking else before
            self._held, self._is_thinking = after, not self._is_thinking
        kept = _begun(self._held, mark)
        shown += "" if self._is_thinking else self._held[: len(self._held) - kept]
        self._held = self._held[len(self._held) - kept :]
        return shown

    def end(self) -> str:
        """Give what was held back because a mark might have begun there."""
        held, self._held = self._held, ""
        return "" if self._is_thinking else held


def _begun(text: str, mark: str) -> int:
    """Count the characters at the end of the text that may be the beginning of the mark."""
    return next((size for size in range(len(mark) - 1, 0, -1) if text.endswith(mark[:size])), 0)
