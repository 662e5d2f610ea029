"""What other tools cost when they compare two runs: figures to stand beside ours, measured once and kept as data.

Two cores, Debian 12, not idle; one suite, three turns a case, about 8 KB of JSON a case, both runs stored beforehand.
Newest versions then: Linaro squad 1.98, promptfoo 0.123.1, arize-phoenix 20.26.1, mlflow 3.17.2, inspect-ai 0.3.285.
Milliseconds of CPU of their server, or of the answer where it says wall. Seconds differ from machine to machine: a
difference below two times says nothing. None of them was tried with 100,000 cases.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peer:
    """``ms`` are by cases a side; ``says`` tells what the figure does not."""

    name: str
    ms: Mapping[int, str]
    says: str


SIZES = (300, 3_000, 30_000)
PEERS = (
    Peer("squad, SQLite", {300: "490", 3_000: "50,000"}, "50 rows; regressions and fixes as a list"),
    Peer("squad, PostgreSQL, wall", {300: "26", 3_000: "2,600"}, "the same"),
    Peer("promptfoo, page of 50", {300: "47", 3_000: "43", 30_000: "43"}, "1.4 MB; pairs by place; no regressions"),
    Peer("promptfoo, what differs", {30_000: "2,600"}, "answers all rows"),
    Peer("Phoenix, the query, wall", {300: "700", 3_000: "1,400-2,300", 30_000: "2,100-2,400"}, "2.0 MB, 50 rows"),
    Peer("MLflow, page, wall", {300: "1,200"}, "3.9 MB; reads all traces of both; 1,000: 2,700-3,300"),
    Peer("inspect-ai, own pivot", {300: "3,000", 3_000: "3,700", 30_000: "16,300"}, "no page of its own"),
)


def peers_table() -> str:
    """Return the figures as lines of text."""
    head = f"{'other tools, ms':26}" + "".join(f"{size:>14,}" for size in SIZES)
    lines = [
        f"{peer.name:26}" + "".join(f"{peer.ms.get(size, '-'):>14}" for size in SIZES) + f"  {peer.says}"
        for peer in PEERS
    ]
    return "\n".join([head, *lines])
