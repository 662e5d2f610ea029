"""Patterns of ``assistant_matches_regex``: those of Rust's ``regex`` crate, in linear time (SPEC 4).

pydantic-core, which the runner depends on anyway, carries that very crate for its string patterns; so the dialect and
its limits are the original's and no pattern can hang a run. A pattern is searched for, not anchored.
"""

from __future__ import annotations

from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, core_schema

from evalrunner.harness.errors import HarnessError


def is_found(pattern: str, text: str) -> bool:
    """Tell whether the pattern is found anywhere in the text; HarnessError for an invalid one."""
    return _compile(pattern).isinstance_python(_encodable(text))


@lru_cache(maxsize=256)
def _compile(pattern: str) -> SchemaValidator:
    schema = core_schema.str_schema(pattern=_encodable(pattern), regex_engine="rust-regex", strict=True)
    try:
        return SchemaValidator(schema)
    except SchemaError as error:
        raise HarnessError(f"invalid regex `{pattern}`: {_reason(str(error))}") from None


def _reason(text: str) -> str:
    """Give the crate's own sentence, which stands after its picture of the place."""
    _, found, sentence = text.rpartition("\nerror: ")
    return sentence.strip() if found else text.partition("SchemaError: ")[2].strip() or text.strip()


def _encodable(text: str) -> str:
    """Half characters exist in no UTF-8 text, so no pattern can mean them."""
    return text.encode("utf-8", "replace").decode("utf-8")
