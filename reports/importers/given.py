"""What whoever imports says beside the file: results of other tools do not tell what was evaluated."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from reports.importers.containers import Readable
from reports.importers.refusals import ReportRejected

LONGEST = 500  # characters of an id or a fingerprint
MOST_SCENARIO_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Given:
    """``target`` and ``fingerprint`` name the version, ``suite`` the suite; ``scenarios`` is a scenario file's text.

    All are "" where nothing was said. A report with schemaVersion 1 says all of it itself; there they have no effect.
    """

    target: str = ""
    fingerprint: str = ""
    suite: str = ""
    scenarios: str = ""

    def to_data(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        return cls(**{field.name: str(data.get(field.name) or "") for field in fields(cls)})


NOTHING = Given()


def read_scenario_text(source: Readable | None) -> str:
    """Read the scenario file that comes along with results; "" without one. Raises ReportRejected."""
    data = source.read(MOST_SCENARIO_BYTES + 1) if source is not None else b""
    if len(data) > MOST_SCENARIO_BYTES:
        sentence = f"The scenario file has more than {MOST_SCENARIO_BYTES >> 20} MiB."
        raise ReportRejected("content_too_large", sentence, [("scenarios", sentence)])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        sentence = f"The scenario file is not UTF-8 text: byte {error.start}."
        raise ReportRejected("not_utf8", sentence, [("scenarios", sentence)]) from None
