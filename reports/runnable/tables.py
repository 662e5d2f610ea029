"""A TOML table that is read key by key and remembers every fault with the path of its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class TargetFault:
    """What is wrong with a targets file: the path of the key (``target.0.kind``; "" is the file) and a sentence."""

    path: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


@dataclass
class Table:
    """One table. Each method takes one key off; ``finish`` complains about the keys that nobody asked for.

    A fault is recorded and the method's neutral value given back, so that one reading finds all faults.
    """

    path: str
    members: Mapping[str, Any]
    faults: list[TargetFault]
    _known: set[str] = field(default_factory=set)

    def text(self, key: str, *, default: str | None = None) -> str:
        """Read a text that is not empty; without a default the key must be there."""
        value = self._take(key)
        if value is None and default is not None:
            return default
        if value is None:
            self.complain(key, "is missing")
        elif not isinstance(value, str) or not value.strip():
            self.complain(key, "must be a text that is not empty")
        else:
            return value
        return ""

    def texts(self, key: str, *, needed: bool = False) -> tuple[str, ...]:
        """Read a list of texts; an absent one is empty unless it is needed."""
        value = self._take(key)
        if value is None and not needed:
            return ()
        if isinstance(value, list) and all(isinstance(item, str) and item for item in value) and (value or not needed):
            return tuple(value)
        self.complain(key, "must be a list of texts" + (" with at least one of them" if needed else ""))
        return ()

    def names(self, key: str) -> dict[str, str]:
        """Read a table that maps names to texts."""
        value = self._take(key)
        if value is None:
            return {}
        if isinstance(value, dict) and all(isinstance(item, str) and item for item in value.values()):
            return dict(value)
        self.complain(key, "must be a table of texts")
        return {}

    def whole(self, key: str, *, default: int, maximum: int) -> int:
        """Read a whole number from 1 to a maximum."""
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= maximum:
            return value
        self.complain(key, f"must be a whole number from 1 to {maximum:,}")
        return default

    def flag(self, key: str, *, default: bool = False) -> bool:
        value = self._take(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.complain(key, "must be true or false")
        return default

    def table(self, key: str) -> Self | None:
        """Read a table inside this one; None where there is none."""
        value = self._take(key)
        if value is None:
            return None
        if isinstance(value, dict):
            return type(self)(self.path_of(key), value, self.faults)
        self.complain(key, "must be a table")
        return None

    def tables(self, key: str) -> list[Self]:
        """Read a list of tables that holds at least one."""
        value = self._take(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
            self.complain(key, f"is missing; begin each {key} with a line [[{key}]]")
            return []
        return [type(self)(f"{self.path_of(key)}.{index}", item, self.faults) for index, item in enumerate(value)]

    def choice(self, key: str, *choices: str) -> str:
        value = self.text(key)
        if value and value not in choices:
            self.complain(key, f"must be one of {', '.join(choices)}")
            return ""
        return value

    def has(self, key: str) -> bool:
        return key in self.members

    def finish(self) -> None:
        for key in self.members:
            if key not in self._known:
                self.complain(key, "is not a key that can stand here")

    def complain(self, key: str, sentence: str) -> None:
        self.faults.append(TargetFault(self.path_of(key), sentence))

    def path_of(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _take(self, key: str) -> Any:
        self._known.add(key)
        return self.members.get(key)
