"""Reading TOML tables of a configuration: each value has the type that is asked for, or ConfigError names the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from evalrunner.data import JsonObject, freeze_object
from evalrunner.errors import EvaluationError
from evalrunner.harness.errors import ConfigError

TomlTable: TypeAlias = Mapping[str, Any]

_MISSING: Final = object()
_NUMBER: Final = (int, float)


class Table:
    """One table with the place where it stands, for instance ``profiles.fast``."""

    def __init__(self, values: TomlTable, place: str = "") -> None:
        self._values, self.place = values, place

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str) -> str:
        """Give a text that must be there."""
        value = self.optional_text(name)
        if value is None:
            raise ConfigError(f"missing field `{name}` in {self.place or 'the file'}")
        return value

    def optional_text(self, name: str) -> str | None:
        return self._get(name, str, "a string", None)  # type: ignore[no-any-return]

    def flag(self, name: str, default: bool) -> bool:
        return self._get(name, bool, "true or false", default)  # type: ignore[no-any-return]

    def whole(self, name: str) -> int | None:
        """Give a whole number of at least 0, or None when it is not there."""
        value = self._get(name, int, "a whole number", None)
        if value is not None and value < 0:
            raise ConfigError(f"{self._at(name)}: a number of at least 0 expected, got {value}")
        return value  # type: ignore[no-any-return]

    def number(self, name: str) -> float | None:
        """Give a number, or None when it is not there; nan and infinities are refused."""
        value = self._get(name, _NUMBER, "a number", None)
        if value is not None and not abs(value) < float("inf"):
            raise ConfigError(f"{self._at(name)}: a finite number expected")
        return None if value is None else float(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Give a list of texts; empty when it is not there."""
        values = self._get(name, list, "a list of strings", [])
        for value in values:
            self._check(name, value, str, "a list of strings")
        return tuple(values)

    def text_map(self, name: str) -> dict[str, str]:
        """Give a table of texts; empty when it is not there."""
        values = self._get(name, dict, "a table of strings", {})
        for value in values.values():
            self._check(name, value, str, "a table of strings")
        return dict(values)

    def data(self, name: str) -> JsonObject:
        """Give a table of anything that JSON knows (no moments, no nan); empty when it is not there."""
        try:
            return freeze_object(self._get(name, dict, "a table", {}))
        except EvaluationError:
            raise ConfigError(f"{self._at(name)}: holds a value that JSON does not know, or too many") from None

    def table(self, name: str) -> Table:
        """Give a table inside this one; an empty one when it is not there."""
        return Table(self._get(name, dict, "a table", {}), self._at(name))

    def tables(self, name: str) -> list[Table]:
        """Give an array of tables; empty when it is not there."""
        values = self._get(name, list, "an array of tables", [])
        for value in values:
            self._check(name, value, dict, "an array of tables")
        return [Table(value, f"{self._at(name)}[{index}]") for index, value in enumerate(values)]

    def named_tables(self) -> Iterator[tuple[str, Table]]:
        """Give the entries of a table that holds nothing but tables."""
        for name in self._values:
            self._check(name, self._values[name], dict, "a table")
            yield name, self.table(name)

    def _get(self, name: str, kind: type | tuple[type, ...], wanted: str, default: object) -> Any:
        value = self._values.get(name, _MISSING)
        if value is _MISSING:
            return default
        self._check(name, value, kind, wanted)
        return value

    def _check(self, name: str, value: object, kind: type | tuple[type, ...], wanted: str) -> None:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ConfigError(f"{self._at(name)}: {wanted} expected")

    def _at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name
