"""The catalogue agent as an HTTP chat service, with the standard library only.

    python -m evalrunner.examples.http_server --port 8000
    evalrunner run SUITE --adapter http://127.0.0.1:8000/agent …

When the environment variable CATALOGUE_TOKEN is set, every request must carry it: ``Authorization: Bearer <token>``.
"""

from __future__ import annotations

import argparse
import hmac
import json
import os
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from uuid import uuid4

from evalrunner.examples.conversation import CatalogueError, Conversation

TOKEN_VARIABLE: Final = "CATALOGUE_TOKEN"
PREFIX: Final = "/agent/"


class CatalogueServer(ThreadingHTTPServer):
    """Serves on the loopback interface; port 0 lets the system choose one."""

    daemon_threads = True

    def __init__(self, port: int = 0, *, wrong_selection: bool = False, token: str | None = None) -> None:
        super().__init__(("127.0.0.1", port), CatalogueHandler)
        self.wrong_selection = wrong_selection
        self.token = token
        self.conversations: dict[str, Conversation] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/agent"

    def open(self, message: dict[str, Any]) -> dict[str, Any]:
        session_id = uuid4().hex
        checkpoint = message.get("checkpoint")
        self.conversations[session_id] = Conversation(wrong_selection=self.wrong_selection, checkpoint=checkpoint)
        return {"sessionId": session_id}

    def turn(self, message: dict[str, Any]) -> dict[str, Any]:
        conversation = self.conversations[message["sessionId"]]
        try:
            observation = conversation.answer(message["input"])
        except CatalogueError as error:
            return {"error": {"code": error.code}}
        return {"observation": observation, "checkpoint": conversation.checkpoint}

    def close(self, message: dict[str, Any]) -> dict[str, Any]:
        del self.conversations[message["sessionId"]]
        return {}


class CatalogueHandler(BaseHTTPRequestHandler):
    """Turns requests into calls: /agent/open, /agent/turn and /agent/close."""

    server: CatalogueServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        actions = {"open": self.server.open, "turn": self.server.turn, "close": self.server.close}
        action = actions.get(self.path.removeprefix(PREFIX))
        if not self._is_authorised():
            self._answer(401, {})
        elif action is None:
            self._answer(404, {})
        elif action != self.server.open and message.get("sessionId") not in self.server.conversations:
            self._answer(410, {})
        else:
            self._answer(200, action(message))

    def _is_authorised(self) -> bool:
        given = self.headers.get("Authorization", "")
        return self.server.token is None or hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode())

    def _answer(self, status: int, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the address of the service is all that its output holds."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted; the first line of the output tells the address."""
    parser = argparse.ArgumentParser(prog="http_server", description="The catalogue agent as an HTTP chat service.")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free one")
    parser.add_argument("--wrong-selection", action="store_true", help="store the product after the chosen one")
    given = parser.parse_args(arguments)
    token = os.environ.get(TOKEN_VARIABLE)
    with CatalogueServer(given.port, wrong_selection=given.wrong_selection, token=token) as server:
        print(f"listening on {server.url}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped", flush=True)


if __name__ == "__main__":
    main()
