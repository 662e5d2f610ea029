"""Reading a targets file: TOML text in, entries or a list of every fault out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from evalrunner.tomltext import TomlTextError, parse_toml

from reports.runnable.entries import (
    CommandMaker,
    FingerprintSource,
    HttpMaker,
    Maker,
    PythonMaker,
    TargetEntry,
    TargetLimits,
)
from reports.runnable.harness import read_harness
from reports.runnable.tables import Table, TargetFault

__all__ = ["TargetFault", "TargetsFileError", "read_targets"]

LONGEST_NAME = 160
_is_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*").fullmatch
_is_variable = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch


class TargetsFileError(Exception):
    """A targets file cannot be used; ``faults`` names each place and what must stand there."""

    def __init__(self, faults: list[TargetFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, faults)))


def read_targets(text: str, *, folder: Path) -> tuple[TargetEntry, ...]:
    """Read a targets file that lies in ``folder``; TargetsFileError lists every fault."""
    try:
        members = parse_toml(text)
    except TomlTextError as error:
        raise TargetsFileError([TargetFault("", f"This is not TOML: {error}.")]) from error
    faults: list[TargetFault] = []
    top = Table("", members, faults)
    entries = [_read_entry(table, folder) for table in top.tables("target")]
    top.finish()
    _refuse_repeated_names(entries, faults)
    if faults:
        raise TargetsFileError(faults)
    return tuple(entries)


def _refuse_repeated_names(entries: list[TargetEntry], faults: list[TargetFault]) -> None:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.name in seen:
            faults.append(TargetFault(f"target.{index}.name", f"{entry.name!r} is taken by an earlier target"))
        seen.add(entry.name)


def _read_entry(table: Table, folder: Path) -> TargetEntry:
    name = _read_id(table, "name", table.text("name"))
    kind = table.choice("kind", *_MAKERS)
    maker = _MAKERS.get(kind, _no_maker)(table, folder)
    entry = TargetEntry(
        name=name,
        title=table.text("title", default=name or "unnamed"),
        target_id=_read_id(table, "id", table.text("id", default=name or "unnamed")),
        kind=kind,
        maker=maker,
        source=_read_source(table, kind),
        folder=folder,
        suites=_read_suites(table, folder, "scenarios" if kind == "harness" else "suites"),
        limits=_read_limits(table, kind),
        allows_external_writes=table.flag("external_writes"),
    )
    if kind:  # the keys depend on the kind: without one nothing can be said about them
        table.finish()
    return entry


def _read_id(table: Table, key: str, value: str) -> str:
    if value and not (_is_name(value) and len(value) <= LONGEST_NAME):
        table.complain(key, "must be 1 to 160 letters, digits, '_', '.', ':' or '-', the first a letter or digit")
    return value


def _read_suites(table: Table, folder: Path, key: str) -> tuple[Path, ...]:
    paths = tuple(folder / path for path in table.texts(key))
    for index, path in enumerate(paths):
        if not path.is_file():
            table.complain(f"{key}.{index}", f"there is no file {path}")
    return paths


def _read_limits(table: Table, kind: str) -> TargetLimits:
    limits = table.table("limits")
    most = TargetLimits(concurrency=1) if kind == "harness" else TargetLimits()
    if limits is None:
        return most
    minutes = limits.whole("minutes", default=0, maximum=7 * 24 * 60)
    is_bounded = limits.has("concurrency")
    concurrency = limits.whole("concurrency", default=most.concurrency, maximum=most.concurrency)
    read = TargetLimits(
        concurrency=concurrency,
        shards=limits.whole("shards", default=most.shards, maximum=most.shards),
        lanes=concurrency if is_bounded else most.lanes,
        repetitions=limits.whole("repetitions", default=most.repetitions, maximum=most.repetitions),
        cases=limits.whole("cases", default=most.cases, maximum=most.cases),
        timeout_ms=limits.whole("timeout_ms", default=most.timeout_ms, maximum=most.timeout_ms),
        minutes=minutes or None,
    )
    limits.finish()
    return read


# --------------------------------------------------------------------------------------------------------- fingerprint


def _read_source(table: Table, kind: str) -> FingerprintSource | None:
    source = table.table("fingerprint")
    if source is None:
        if kind in ("http", "command", "harness") and not table.has("fingerprint"):
            table.complain("fingerprint", "is missing: say where the exact version of the target is to be found")
        return None
    match source.choice("from", "fixed", "asked", "command", "env"):
        case "fixed":
            read = FingerprintSource("fixed", values=source.texts("values", needed=True))
        case "command":
            read = FingerprintSource("command", command=source.texts("command", needed=True))
        case "env":
            read = FingerprintSource("env", variable=_read_variable(source, "variable", source.text("variable")))
        case _:
            read = FingerprintSource("asked")
    source.finish()
    return read


def _read_variable(table: Table, key: str, name: str) -> str:
    if name and not _is_variable(name):
        table.complain(key, "must be the name of an environment variable")
    return name


# --------------------------------------------------------------------------------------------------------------- kinds


def _python(table: Table, folder: Path) -> Maker:
    return PythonMaker(_read_reference(table, "object"), _read_evaluators(table), folder)


def _http(table: Table, folder: Path) -> Maker:
    headers = table.names("headers")
    for header, variable in headers.items():
        _read_variable(table, f"headers.{header}", variable)
    url = table.text("url")
    if url and not url.startswith(("http://", "https://")):
        table.complain("url", "must begin with http:// or https://")
    return HttpMaker(url, headers, table.flag("supports_resume"), _read_evaluators(table), folder)


def _command(table: Table, folder: Path) -> Maker:
    environment = table.texts("environment")
    for index, variable in enumerate(environment):
        _read_variable(table, f"environment.{index}", variable)
    argv = table.texts("command", needed=True)
    return CommandMaker(argv, environment, table.flag("supports_resume"), _read_evaluators(table), folder)


def _harness(table: Table, folder: Path) -> Maker:
    maker = read_harness(table, folder)
    for index, variable in enumerate(maker.environment):
        _read_variable(table, f"environment.{index}", variable)
    return maker


def _no_maker(table: Table, folder: Path) -> Maker:
    return CommandMaker((), (), False, "", folder)  # never used: the fault of the kind is recorded


def _read_evaluators(table: Table) -> str:
    return _read_reference(table, "evaluators") if table.has("evaluators") else ""


def _read_reference(table: Table, key: str) -> str:
    reference = table.text(key)
    if reference and not all(reference.partition(":")):
        table.complain(key, "must be written as module:object")
    return reference


_MAKERS: dict[str, Callable[[Table, Path], Maker]] = {
    "python": _python,
    "http": _http,
    "command": _command,
    "harness": _harness,
}
