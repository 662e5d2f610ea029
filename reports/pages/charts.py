"""Small charts drawn as SVG: a line of rates whose points are links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_WIDTH, _HEIGHT, _MARGIN = 240, 48, 6


@dataclass(frozen=True, slots=True)
class Point:
    """What one point shows: ``rate`` in [0, 1] or None where nothing was decided; ``text`` its facts in words."""

    rate: float | None
    text: str
    href: str
    tone: str = "accent"
    is_hollow: bool = False


# What a point shows beside its colour, around its own place; others are circles.
OUTLINES: Final[Mapping[str, str]] = {
    "down": "M-6-4.5H6L0 6z",
    "up": "M-6 4.5H6L0-6z",
    "both": "M0-5.5 5.5 0 0 5.5-5.5 0z",
}


@dataclass(frozen=True, slots=True)
class Dot:
    """A point in its place; ``outline`` is the path of its shape, "" for a circle."""

    x: float
    y: float
    text: str
    href: str
    tone: str
    is_hollow: bool

    @property
    def outline(self) -> str:
        return OUTLINES.get(self.tone, "")


@dataclass(frozen=True, slots=True)
class Spark:
    """A line of rates over versions, oldest at the left. ``path`` breaks where nothing was decided."""

    path: str
    dots: tuple[Dot, ...]
    width: int
    height: int
    text: str

    @classmethod
    def of(cls, points: Sequence[Point], *, text: str) -> "Spark":
        """Draw rates on a scale that begins below the lowest one, in whole tenths, so that small falls stay visible."""
        rates = [point.rate for point in points if point.rate is not None]
        low = int(min(rates, default=0.0) * 10) / 10
        low = min(low, 0.9)
        step = (_WIDTH - 2 * _MARGIN) / max(1, len(points) - 1)
        placed = [
            Dot(
                round(_MARGIN + index * step, 1),
                _height(point.rate, low),
                point.text,
                point.href,
                point.tone,
                point.is_hollow,
            )
            for index, point in enumerate(points)
        ]
        known = [dot if point.rate is not None else None for dot, point in zip(placed, points, strict=True)]
        return cls(_path(known), tuple(dot for dot in known if dot), _WIDTH, _HEIGHT, text)


def _height(rate: float | None, low: float) -> float:
    share = ((rate or 0.0) - low) / (1 - low)
    return round(_HEIGHT - _MARGIN - share * (_HEIGHT - 2 * _MARGIN), 1)


def _path(dots: Sequence[Dot | None]) -> str:
    parts, is_open = [], False
    for dot in dots:
        if dot is not None:
            parts.append(f"{'L' if is_open else 'M'}{dot.x:g} {dot.y:g}")
        is_open = dot is not None
    return "".join(parts)
