"""The catalogue agent as a command: JSON lines on standard input and output, one process for each conversation.

    evalrunner run SUITE --adapter "command:python -m evalrunner.examples.command_agent" …

``command_agent.mjs`` is the same in JavaScript. Nothing but answers may be printed; standard error is free.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from evalrunner.examples.conversation import CatalogueError, Conversation


def main() -> None:
    """Answer each line with one line that repeats its ``seq``, until the conversation is closed."""
    wrong_selection = "--wrong-selection" in sys.argv[1:]
    conversation = Conversation()
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "open":
            conversation = Conversation(wrong_selection=wrong_selection, checkpoint=message.get("checkpoint"))
        answer = take_turn(conversation, message["input"]) if message["type"] == "turn" else {}
        print(json.dumps({"seq": message["seq"], **answer}), flush=True)
        if message["type"] == "close":
            break


def take_turn(conversation: Conversation, message: dict[str, Any]) -> dict[str, Any]:
    try:
        observation = conversation.answer(message)
    except CatalogueError as error:
        return {"error": {"code": error.code}}
    return {"observation": observation, "checkpoint": conversation.checkpoint}


if __name__ == "__main__":
    main()
