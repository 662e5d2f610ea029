"""Publishing a run while it goes on, beside it: ``evalrunner run … --push URL``.

The verdict is the run's alone: a site that is away, or refuses the report, is told and changes nothing else. The thread
is a daemon: whatever a site does, the process can end.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
from pathlib import Path
from typing import Final

from evalrunner.cli import push
from evalrunner.cli.inputs import InputError
from evalrunner.cli.publishing import Follower
from evalrunner.cli.site import Site

_FOR_EVER_S: Final = float("inf")
_POLL_S: Final = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("publishing")
    group.add_argument("--push", metavar="URL", help="publish the report to this site while the run goes on")
    push.add_token_argument(group)


class RunPublisher:
    """Publishes what a run writes to ``path``, from its making to ``finish``; not at all where ``site`` is None."""

    def __init__(self, site: Site | None, path: Path) -> None:
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        if site is not None:
            follower = Follower(
                site, path, tell=_tell, patience_s=_FOR_EVER_S, takes_present=False, wait=self._over.wait
            )
            self._thread = threading.Thread(target=self._publish, args=(follower,), name="push", daemon=True)
            self._thread.start()

    async def finish(self) -> None:
        """Wait until the last report, which has been written by now, is published or can not be."""
        self._over.set()
        while self._thread is not None and self._thread.is_alive():  # noqa: ASYNC110 - a thread ends, no task
            await asyncio.sleep(_POLL_S)

    def _publish(self, follower: Follower) -> None:
        try:
            follower.follow(found=lambda url: _tell(f"published at {url}"), is_over=self._over.is_set)
        except InputError as error:
            _tell(f"not published: {error}")


def _tell(text: str) -> None:
    """Write a line of its own, also where a bar is being drawn."""
    push.tell(f"\r\x1b[K{text}" if sys.stderr.isatty() else text)
