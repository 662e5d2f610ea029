"""The catalogue agent connected as a Python object: the shortest adapter there can be."""

from __future__ import annotations

import asyncio
from typing import Any

from evalrunner.adapters.base import OpenContext, SendContext, SendResult
from evalrunner.errors import EvaluationError
from evalrunner.examples.conversation import CatalogueError, Conversation


class CatalogueAdapter:
    """Open a conversation with the catalogue.

    ``wrong_selection`` turns the tutorial's bug on. ``latency_ms`` is the time that every turn takes.
    """

    id = "tutorial.catalogue"
    version = "1"

    def __init__(self, *, wrong_selection: bool = False, latency_ms: int = 0) -> None:
        self.wrong_selection = wrong_selection
        self.latency_ms = latency_ms

    async def open(self, context: OpenContext) -> CatalogueSession:
        return CatalogueSession(Conversation(wrong_selection=self.wrong_selection), self.latency_ms)


class CatalogueSession:
    """One conversation."""

    def __init__(self, conversation: Conversation, latency_ms: int) -> None:
        self._conversation = conversation
        self._latency_ms = latency_ms

    async def send(self, input: dict[str, Any], context: SendContext) -> SendResult:
        """Answer one turn; EvaluationError with a code of the catalogue when it does not know what is asked."""
        await asyncio.sleep(self._latency_ms / 1000)
        try:
            return {"observation": self._conversation.answer(input)}
        except CatalogueError as error:
            raise EvaluationError(error.code) from error
