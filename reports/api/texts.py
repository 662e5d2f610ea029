"""Texts in the bodies of requests, as JSON has them: half of a surrogate pair is one, though no UTF-8 can hold it."""

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

LONGEST = 500  # characters


def _check_text(value: object) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "Input should be a valid string")
    if len(value) > LONGEST:
        raise PydanticCustomError("string_too_long", f"String should have at most {LONGEST} characters")
    return value


# Pydantic's own texts refuse what suites may hold, so that a tag could be stored and shown but not asked for.
Text = Annotated[str, PlainValidator(_check_text), WithJsonSchema({"type": "string", "maxLength": LONGEST})]
