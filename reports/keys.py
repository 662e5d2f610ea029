"""Hashes that stand for texts of any length in unique and joined columns."""

import hashlib
import json
from collections.abc import Mapping


def text_key(text: str) -> str:
    """Return 32 hex digits (128 bits of SHA-256) for a text, unpaired surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def variant_key(scenario_id: str, variants: Mapping[str, str]) -> str:
    """Return the key of a scenario variant: the scenario with one chosen variant per step, without repetition."""
    return text_key(json.dumps([scenario_id, dict(variants)], sort_keys=True, separators=(",", ":")))
