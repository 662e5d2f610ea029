"""Numbers, durations and moments in a reader's words. Pure: the caller brings the clock."""

import math
from datetime import UTC, datetime

_UNITS = ((1.0, "ms"), (1_000.0, "s"), (60_000.0, "min"), (3_600_000.0, "h"), (86_400_000.0, "d"))
_SPANS = ((60, "minute"), (3_600, "hour"), (86_400, "day"))
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RELATIVE_DAYS = 30


def duration_in_words(milliseconds: float | None) -> str:
    """Return a duration with its unit and two significant digits ("1.2 s", "3.5 min"); a dash for None and nonsense."""
    if milliseconds is None or not math.isfinite(milliseconds) or milliseconds < 0:
        return "–"
    fitting = [(size, name) for size, name in _UNITS if milliseconds >= size] or [_UNITS[0]]
    size, name = fitting[-1]
    value = _two_digits(milliseconds / size)
    return f"over 9,999 {name}" if value > 9_999 else f"{value:,g} {name}"


def _two_digits(value: float) -> float:
    if value == 0:
        return 0.0
    return round(value, 1 - math.floor(math.log10(value)))


def moment_in_words(moment: datetime, now: datetime) -> str:
    """Return a moment relative to ``now`` ("3 hours ago"), or its day (UTC) when it is more than a month away."""
    seconds = (now - moment).total_seconds()
    if abs(seconds) < 45:
        return "just now"
    if abs(seconds) >= _RELATIVE_DAYS * 86_400:
        return day_in_words(moment)
    amount, unit = _span(abs(seconds))
    words = f"{amount} {unit}{'' if amount == 1 else 's'}"
    return f"{words} ago" if seconds > 0 else f"in {words}"


def _span(seconds: float) -> tuple[int, str]:
    fitting = [(size, name) for size, name in _SPANS if seconds >= size] or [_SPANS[0]]
    size, name = fitting[-1]
    return max(1, int(seconds // size)), name


def day_in_words(moment: datetime) -> str:
    """Return the day of a moment in UTC: "2 Mar 2026"."""
    day = moment.astimezone(UTC) if _is_movable(moment) else moment
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year:04d}"


def exact_moment(moment: datetime) -> str:
    """Return a moment to the second with its zone: "2026-03-02 09:05:00 UTC"."""
    utc = moment.astimezone(UTC) if _is_movable(moment) else moment
    return f"{utc.replace(tzinfo=None).isoformat(sep=' ', timespec='seconds')} UTC"


def _is_movable(moment: datetime) -> bool:
    """The first and last days of the calendar cannot be moved between zones without falling out of it."""
    return 1 < moment.year < 9999


def percent_in_words(fraction: float | None) -> str:
    """Return a fraction as "87.5%"; 0% and 100% only where they are exact, a dash for None."""
    if fraction is None or not math.isfinite(fraction):
        return "–"
    shown = round(fraction * 100, 1)
    if shown >= 100 and fraction < 1:
        shown = 99.9
    if shown <= 0 and fraction > 0:
        shown = 0.1
    return f"{shown:g}%"


def count_in_words(number: int | None) -> str:
    """Return a number with thousands separators; a dash for None."""
    return "–" if number is None else f"{number:,}"


def counted(number: int, noun: str) -> str:
    """Return a number and what is counted: "1 case", "1,200 cases"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def about(number: int) -> str:
    """Return "about 12,400": three significant digits of an estimate."""
    digits = max(0, len(str(abs(number))) - 3)
    return f"about {round(number, -digits):,}"


def short_name(text: str, longest: int = 32) -> str:
    """Return a name for a sentence: whole up to ``longest`` characters, else its beginning with an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
