"""A filled-in form for a new run, as it was typed: nothing in it is checked yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalrunner.errors import OPTIONS_INVALID

from reports.domain.harness.options import USUAL, HarnessOptions
from reports.domain.run_options import NUMBERS, Refusal, RunOptions

_DEFAULTS = RunOptions()
_is_whole = re.compile(r"[0-9]{1,12}").fullmatch


@dataclass(frozen=True)
class RunDraft:
    """A filled-in form. ``suite`` is "offered:<place>", "revision:<pk>" or ""; ``numbers`` are texts by option name.

    ``shown`` says for which target and suite the reader's choices were made; ``key`` makes a double click one run.
    ``follow_up`` says by what outcome of the run ``follows`` the scenarios were chosen.
    """

    target: str = ""
    fingerprint: str = ""
    suite: str = ""
    scenarios: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    allow_external_writes: bool = False
    early_alarm: bool = True
    harness: HarnessOptions = USUAL
    shown: str = ""
    key: str = ""
    follow_up: str = ""
    follows: str = ""

    @property
    def is_for_another_target(self) -> bool:
        """Tell whether version and suite were chosen for another target than the one that is named now."""
        return bool(self.shown) and self.shown_target != self.target

    @property
    def has_picks_of_another_suite(self) -> bool:
        """Tell whether scenarios or tags were picked from another suite than the one that is named now."""
        return bool(self.shown) and self.shown_suite != self.suite and bool(self.scenarios or self.tags)

    @property
    def shown_target(self) -> str:
        return self.shown.partition("|")[0]

    @property
    def shown_suite(self) -> str:
        return self.shown.partition("|")[2]

    @property
    def is_follow_up(self) -> bool:
        """Tell whether an outcome chose what runs: not where everything runs after all."""
        return bool(self.follow_up and (self.scenarios or self.tags))

    def number(self, name: str) -> str:
        return self.numbers.get(name) or str(getattr(_DEFAULTS, name))

    def options(self) -> tuple[RunOptions, list[Refusal]]:
        """Return the options as far as they can be read, and what cannot."""
        refusals = [
            Refusal(name, OPTIONS_INVALID, "Give a whole number.")
            for name in NUMBERS
            if not _is_whole(self.number(name).strip())
        ]
        wrong = {refusal.field for refusal in refusals}
        numbers: dict[str, Any] = {name: int(self.number(name)) for name in NUMBERS if name not in wrong}
        options = RunOptions(
            scenario_ids=self.scenarios or None,
            tags=self.tags or None,
            allow_external_writes=self.allow_external_writes,
            early_alarm=self.early_alarm,
            harness=self.harness,
            **numbers,
        )
        return options, refusals
