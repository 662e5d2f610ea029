"""The scripted catalogue agent itself, in plain Python: it knows the tutorial's messages and answers predictably.

It stands for *your* agent, so it knows nothing of the evaluation. ``catalogue`` reaches it as a Python object,
``http_server`` puts it on the network, ``command_agent`` into a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

PRODUCTS: Final[Sequence[dict[str, Any]]] = (
    {"id": "desk-lamp", "name": "Desk lamp", "price": 40},
    {"id": "floor-lamp", "name": "Floor lamp", "price": 90},
)
SEARCHES: Final[Mapping[str, Sequence[dict[str, Any]]]] = {
    "Show available products": PRODUCTS,
    "Please show available products": PRODUCTS,
    "Show unavailable products": (),
}


class CatalogueError(Exception):
    """The catalogue does not understand what it is asked; ``code`` says which part."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class Conversation:
    """One customer at the catalogue: it remembers what it offered and what was selected.

    ``wrong_selection`` is the tutorial's bug: the product after the chosen one is stored. ``checkpoint`` is what an
    earlier conversation gave as its own, to go on where that one stood.
    """

    def __init__(self, *, wrong_selection: bool = False, checkpoint: Mapping[str, Any] | None = None) -> None:
        self._wrong_selection = wrong_selection
        state = checkpoint or {}
        self._offered: list[dict[str, Any]] = list(state.get("offered", ()))
        self._selected: dict[str, Any] | None = state.get("selected")

    @property
    def checkpoint(self) -> dict[str, Any]:
        return {"offered": self._offered, "selected": self._selected}

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a search (``text``) or a choice (``selection``) with everything there is to know about the turn."""
        selection = message.get("selection")
        response = self._search(message.get("text")) if selection is None else self._select(selection)
        facts = [] if self._selected is None else [{"type": "product.selected", "value": self._selected}]
        return {
            "response": response,
            "checkpoint": {"facts": facts},
            "catalogue": {"count": len(self._offered)},
        }

    def _search(self, text: object) -> dict[str, Any]:
        if not isinstance(text, str) or text not in SEARCHES:
            raise CatalogueError("CATALOGUE_INPUT_UNKNOWN")
        self._offered = list(SEARCHES[text])
        if not self._offered:
            return {"status": "completed", "message": "No products matched.", "reason": "no_results"}
        options = [{"id": product["id"], "label": product["name"], "value": product} for product in self._offered]
        interaction = {"kind": "choice", "options": options}
        return {"status": "completed", "message": "Choose a product.", "interaction": interaction}

    def _select(self, selection: object) -> dict[str, Any]:
        index = selection.get("optionIndex") if isinstance(selection, Mapping) else None
        if not isinstance(index, int) or not 0 <= index < len(self._offered):
            raise CatalogueError("CATALOGUE_SELECTION_UNKNOWN")
        if self._wrong_selection:
            index = (index + 1) % len(self._offered)
        self._selected = self._offered[index]
        return {"status": "completed", "message": f"Selected {self._selected['name']}."}
