"""The help page: the keys of every page and what the signs mean."""

from dataclasses import dataclass

from reports.domain.grammar import CASE_STATUSES, CHANGES, REDEFINED, Sign


@dataclass(frozen=True, slots=True)
class Key:
    keys: tuple[str, ...]
    text: str


_KEYS = (
    Key(("j", "k"), "Next and previous in the current filter and order"),
    Key(("Enter",), "Open the chosen one"),
    Key(("n", "p"), "Next and previous difference"),
    Key(("[", "]"), "Previous and next repetition"),
    Key(("1", "9"), "Go to that turn"),
    Key(("/",), "Search"),
    Key(("c",), "Copy a link to the chosen one, or to this page"),
    Key(("?",), "This help"),
)


@dataclass(frozen=True, slots=True)
class HelpPage:
    keys: tuple[Key, ...]
    statuses: tuple[Sign, ...]
    changes: tuple[Sign, ...]

    @classmethod
    def made(cls) -> "HelpPage":
        return cls(_KEYS, tuple(CASE_STATUSES.values()), (*CHANGES.values(), REDEFINED))
