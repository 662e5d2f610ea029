"""Ids of what an address opens at, the same on the page of a case and in the side by side.

    turn-3                          the third turn; of a comparison the candidate's
    turn-left-3                     the baseline's third turn, where the candidate has none beside it
    turn-3:response.facts[0].price  a path in its observation
    turn-3.input:text               a path in another part of it
    turn-3/grounded/cites           a criterion of it, by the ids from the top
    criteria/grounded               a criterion of the whole conversation
    suite/no-errors                 an assertion of the suite, on the page of a run
    case:name, scenario:steps[0]    a path in the case, in the definition of its scenario

What is no letter, digit or bracket stands percent-encoded, as a browser writes it into an address: id and fragment are
the same text whatever a name holds.
"""

from collections.abc import Iterable
from hashlib import sha256
from urllib.parse import quote

OBSERVATION, CRITERIA = "observation", "criteria"
_LONGEST = 600  # characters; what is longer is named by its digest


def turn_anchor(number: int, *, is_left: bool = False) -> str:
    """Return the id of a turn, counted from 1; ``is_left`` for one that only the baseline has."""
    return f"turn-left-{number}" if is_left else f"turn-{number}"


def part_anchor(turn: str, part: str) -> str:
    """Return what the paths of a part of a turn begin with; the observation is the usual one."""
    return turn if part == OBSERVATION else f"{turn}.{part}"


def path_anchor(owner: str, path: str) -> str:
    """Return the id of a path (as ``evalrunner.compare.path_text`` writes it) of a part of a turn or case."""
    return f"{owner}:{_encoded(path, safe='[].$')}"


def criterion_anchor(owner: str, path: str) -> str:
    """Return the id of a criterion of a turn or of ``CRITERIA``; ``path`` as ``criterion_path`` writes it."""
    return f"{owner}/{path}"


def criterion_path(above: str, criterion_id: str, number: int) -> str:
    """Append an id to the path of the criterion above it; ``number`` counts equal ids beside each other from 1."""
    own = _encoded(criterion_id, safe=":.").replace("~", "%7E")
    own = own if number == 1 else f"{own}~{number}"
    return f"{above}/{own}" if above else own


def numbered(ids: Iterable[str]) -> list[tuple[str, int]]:
    """Count equal ids: a, b, a is (a, 1), (b, 1), (a, 2)."""
    seen: dict[str, int] = {}
    found = []
    for each in ids:
        seen[each] = seen.get(each, 0) + 1
        found.append((each, seen[each]))
    return found


def _encoded(text: str, *, safe: str) -> str:
    encoded = quote(text, safe=safe, errors="surrogatepass")
    if len(encoded) <= _LONGEST:
        return encoded
    return f"~{sha256(encoded.encode()).hexdigest()[:32]}"
