"""The text form of the runs list's filters: ``target:desk.agent status:failed "two words"``.

Blanks part terms; double quotes keep them together, and inside quotes a backslash lets a quote or a backslash stand for
itself. A term with a known name narrows that field, everything else is looked for as text. Several values of one name
mean any of them. Nothing is a wildcard.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

NAMES = ("target", "version", "suite", "status", "outcome", "origin", "from", "to")
OUTCOMES = ("passed", "not-passed", "unfinished")
STATUSES = ("queued", "running", "completed", "cancelled", "limited", "interrupted", "rejected")
ORIGINS = ("upload", "api", "web", "command")
MOST_TERMS = 40
_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"status": STATUSES, "outcome": OUTCOMES, "origin": ORIGINS})
_TERM = re.compile(r'(?:(?P<name>[a-z]+):)?(?:"(?P<quoted>(?:[^"\\]|\\.)*)"?|(?P<bare>\S+))', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PLAIN = re.compile(r'[^\s"]+')


@dataclass(frozen=True, slots=True)
class RunQuery:
    """What a list of runs is narrowed to. ``faults`` say in words what could not be understood."""

    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def values(self, name: str) -> tuple[str, ...]:
        return self.terms.get(name, ())

    @property
    def is_narrow(self) -> bool:
        return bool(self.terms or self.words)

    def day(self, name: str) -> date | None:
        """Return the day of ``from`` or ``to``: the last one given."""
        values = self.values(name)
        return date.fromisoformat(values[-1]) if values else None

    def with_value(self, name: str, value: str) -> "RunQuery":
        """Return the query with one value for a name in place of those it had."""
        return RunQuery({**self.terms, name: (value,)}, self.words)

    def without(self, name: str) -> "RunQuery":
        return RunQuery({known: values for known, values in self.terms.items() if known != name}, self.words)

    @property
    def text(self) -> str:
        """Return the text form; parsing it gives this query again."""
        named = [f"{name}:{_quoted(value)}" for name in NAMES for value in self.values(name)]
        return " ".join([*named, *(_quoted_word(word) for word in self.words)])


def parse_run_query(text: str) -> RunQuery:
    """Read the text form. Never fails: what is not understood is named in ``faults`` and narrows nothing."""
    terms: dict[str, tuple[str, ...]] = {}
    words: list[str] = []
    faults: list[str] = []
    found = list(_terms(text))
    if len(found) > MOST_TERMS:
        faults.append(f"Only the first {MOST_TERMS} terms are used.")
    for name, value in found[:MOST_TERMS]:
        fault = _fault(name, value) if name else ""
        if fault:
            faults.append(fault)
        elif name and value not in terms.get(name, ()):
            terms[name] = (*terms.get(name, ()), value)
        elif not name:
            words.append(value)
    return RunQuery(terms, tuple(words), tuple(faults))


def _terms(text: str) -> Iterator[tuple[str, str]]:
    for found in _TERM.finditer(text):
        name, quoted = found["name"] or "", found["quoted"]
        value = found["bare"] if quoted is None else _ESCAPED.sub(r"\1", quoted)
        if name and name not in NAMES:  # "sha256:ab" is a text, not a filter
            name, value = "", f"{name}:{value}"
        if value:
            yield name, value


def _fault(name: str, value: str) -> str:
    if name in _WORDS and value not in _WORDS[name]:
        return f"{name}: is one of {', '.join(_WORDS[name])}; “{value}” is none of them."
    if name in {"from", "to"}:
        return _fault_of_day(name, value)
    return ""


def _fault_of_day(name: str, value: str) -> str:
    try:
        is_day = bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII) and date.fromisoformat(value))
    except ValueError:
        is_day = False
    return "" if is_day else f"{name}: is a day such as 2026-03-02 (UTC); “{value}” is not."


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _quoted_word(word: str) -> str:
    """A word that would read as a filter of a known name is quoted."""
    name, colon, _ = word.partition(":")
    if colon and name in NAMES:
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return _quoted(word)
