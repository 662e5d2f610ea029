"""When one report of a run may follow another: snapshots of one run only ever grow.

A report B is a *later snapshot* of a report A of the same ``runId`` when

* ``resumedFrom``, suite, fingerprint, target and ``startedAt`` are equal, and B has as many cases as A, each with the
  same id, scenario, name, repetition and variants at the same place;
* A's status is ``running`` (a report with any other status is final: only an equal one agrees with it), and A's suite
  assertions are empty or equal;
* each case has grown: a pending case may become anything; a running case keeps its thread, does not become pending,
  and its turns are the first turns of B's; a case that has ended is equal. One exception: after an early stop a
  snapshot already shows ``skipped`` or ``blocked`` with turns, and the case may still end ``failed`` or ``error``.

Numbers compare as doubles, the order of members does not matter.

While snapshots of a run come, somebody publishes it from elsewhere: a report that says ``running`` is awaited for half
an hour after the last one (a turn may take long, and nothing is published meanwhile). Most that say so for longer have
died.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from evalrunner.data import as_double

YOUNG_S = 120.0  # `evalrunner push --follow` pauses for a minute at most, and sending takes its time
AWAITED_S = 1_800.0
_IDENTITY = ("id", "scenarioId", "name", "repetition", "variants")
_FIXED = ("resumedFrom", "fingerprint", "target", "startedAt")
_ABSENT = object()

Data = Mapping[str, Any]


def first_difference(stored: Any, new: Any, where: str = "") -> str | None:
    """Return the path of the first place, in the order of the stored value, at which two JSON values differ."""
    return next(_differences(stored, new, where), None)


def _differences(stored: Any, new: Any, where: str) -> Iterator[str]:
    if isinstance(stored, Mapping) and isinstance(new, Mapping):
        for name in [*stored, *(name for name in new if name not in stored)]:
            yield from _differences(stored.get(name, _ABSENT), new.get(name, _ABSENT), _at(where, name))
    elif isinstance(stored, list | tuple) and isinstance(new, list | tuple):
        for index, (left, right) in enumerate(zip(stored, new, strict=False)):
            yield from _differences(left, right, _at(where, index))
        if len(stored) != len(new):
            yield where
    elif not _is_same_scalar(stored, new):
        yield where


def _at(where: str, name: object) -> str:
    return f"{where}.{name}" if where else str(name)


def _is_same_scalar(stored: Any, new: Any) -> bool:
    if isinstance(stored, bool) or isinstance(new, bool):
        return stored is new
    if isinstance(stored, int | float) and isinstance(new, int | float):
        return as_double(stored) == as_double(new)
    return bool(stored == new)


def head_contradiction(stored: Data, new: Data) -> str | None:
    """Return where the head of a report (without suite and cases) cannot follow the stored one; None where it can."""
    for name in _FIXED:
        if (path := _member_difference(stored, new, name)) is not None:
            return path
    if stored["status"] != "running":
        names = ("finishedAt", "status", "assertions")
    else:
        names = (
            *(("finishedAt",) if "finishedAt" in stored else ()),
            *(("assertions",) if stored.get("assertions") else ()),
        )
    return next((path for name in names if (path := _member_difference(stored, new, name)) is not None), None)


def _member_difference(stored: Data, new: Data, name: str) -> str | None:
    return first_difference(stored.get(name, _ABSENT), new.get(name, _ABSENT), name)


def case_contradiction(stored: Data, new: Data, where: str, *, is_final: bool) -> str | None:
    """Return where a case cannot follow the stored one; None where it can.

    ``is_final``: the stored report's status is not ``running``, so the case has to be equal.
    """
    if is_final:
        return first_difference(stored, new, where)
    for name in _IDENTITY:
        if (path := first_difference(stored[name], new[name], f"{where}.{name}")) is not None:
            return path
    if stored["status"] == "pending":
        return None
    if stored["status"] == "running":
        return _running_contradiction(stored, new, where)
    if stored["turns"] and stored["status"] in ("skipped", "blocked") and new["status"] in ("failed", "error"):
        return first_difference(_without_verdict(stored), _without_verdict(new), where)
    return first_difference(stored, new, where)


def _running_contradiction(stored: Data, new: Data, where: str) -> str | None:
    if stored["threadId"] != new["threadId"]:
        return f"{where}.threadId"
    if new["status"] == "pending":
        return f"{where}.status"
    if len(new["turns"]) < len(stored["turns"]):
        return f"{where}.turns"
    return first_difference(stored["turns"], new["turns"][: len(stored["turns"])], f"{where}.turns")


def _without_verdict(case: Data) -> Data:
    return {name: value for name, value in case.items() if name not in ("status", "errorCode")}
