"""Samples for the style page."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from reports.domain.grammar import CASE_STATUSES, CHANGES, RUN_OUTCOMES, Sign
from reports.pages.parts import Action, Bar, Chip, Choice, Empty, Fact, OutsideText, Pager, Pips, VersionName
from reports.text import storable

_HOSTILE = "<img src=x onerror=alert(1)> \u202egnirts desrever\u202c zero\u200bwidth \x00nul \x1b[31m \ud83d"


@dataclass(frozen=True, slots=True)
class StylePage:
    statuses: tuple[Sign, ...]
    outcomes: tuple[Sign, ...]
    changes: tuple[Sign, ...]
    bars: tuple[Bar, ...]
    pips: tuple[Pips, ...]
    versions: tuple[VersionName, ...]
    facts: tuple[Fact, ...]
    chips: tuple[Chip, ...]
    outside: tuple[OutsideText, ...]
    pager: Pager
    empty: Empty
    moments: tuple[datetime, ...]
    durations: tuple[float, ...]
    hostile: str

    @classmethod
    def made(cls) -> "StylePage":
        now = timezone.now()
        choices = tuple(Choice(sign.word, "#", sign.key == "failed", sign, 7) for sign in CASE_STATUSES.values())
        return cls(
            statuses=tuple(CASE_STATUSES.values()),
            outcomes=tuple(RUN_OUTCOMES.values()),
            changes=tuple(CHANGES.values()),
            bars=(
                Bar.of({"passed": 41, "failed": 7, "error": 2, "skipped": 3}),
                Bar.of(dict.fromkeys(CASE_STATUSES, 1), href=lambda status: f"#{status}", is_tall=True),
                Bar.of({"passed": 99_999, "failed": 1}),
                Bar.of({}),
            ),
            pips=(
                Pips.of(["passed", "passed", "failed"], text="2 of 3"),
                Pips.of(["passed", "error", "skipped"], text="1 of 2", hrefs=["#a", "#b", "#c"]),
                Pips.of(["passed"] * 40, text="40 of 40"),
            ),
            versions=(
                VersionName("desk.agent", "v1", href="#"),
                VersionName("desk.agent", "a" * 64, "release candidate", "#"),
                VersionName("t" * 160, storable(_HOSTILE), "", "#"),
            ),
            facts=(
                Fact("Target", "desk.agent", "#"),
                Fact("Started", at=now - timedelta(hours=3)),
                Fact("Resumed from"),
                Fact("Fingerprint", "f" * 64, is_mono=True),
                Fact("Hostile", storable(_HOSTILE)),
            ),
            chips=(Chip("status", "failed", choices, "#"), Chip("target", "", choices, "#", "Type target:…")),
            outside=(
                OutsideText.of("", label="empty"),
                OutsideText.of("Good morning.\nHow can I help?", label="response.message"),
                OutsideText.of(_HOSTILE, label="hostile"),
                OutsideText.of("A long line. " * 700, label="long"),
            ),
            pager=Pager("about 12,400 runs", "#", "#"),
            empty=Empty("No runs yet", "Import a report or start a run.", (Action("Import a report", "#", "upload"),)),
            moments=(
                now,
                now - timedelta(minutes=5),
                now - timedelta(days=3),
                datetime(2026, 3, 2, tzinfo=UTC),
                datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
                datetime(1, 1, 1, tzinfo=UTC),
            ),
            durations=(0, 0.4, 120, 1_234, 83_000, 5_400_000, 1e12),
            hostile=storable(_HOSTILE),
        )
