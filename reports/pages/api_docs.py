"""The page that documents the API, made from its own OpenAPI description."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

_BACKTICKS = re.compile("`+")
_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a description; what stands between backticks is code."""

    text: str
    is_code: bool


Words = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """``kind`` is its type and range in words."""

    name: str
    place: str
    is_required: bool
    kind: str
    description: Words


@dataclass(frozen=True, slots=True)
class Answer:
    """``schema`` names the form of the answer, with the anchor of its section; both "" where there is none."""

    status: str
    meaning: str
    schema: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Operation:
    anchor: str
    method: str
    address: str
    summary: str
    description: Words
    parameters: tuple[Parameter, ...]
    bodies: tuple[str, ...]
    body_description: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """One named form of an answer: its members and, as text, its JSON schema."""

    anchor: str
    name: str
    description: Words
    members: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class ApiDocsPage:
    title: str
    example: str
    schema_href: str
    operations: tuple[Operation, ...]
    forms: tuple[Form, ...]


def api_docs_page(description: Mapping[str, Any], *, origin: str, schema_href: str) -> ApiDocsPage:
    """Make the page of an OpenAPI description; ``origin`` is the site's own address."""
    return ApiDocsPage(
        title="API",
        example=f"curl --data-binary @report.json -H 'Authorization: Bearer TOKEN' {origin}/api/v1/runs/import",
        schema_href=schema_href,
        operations=tuple(_operations(description)),
        forms=tuple(_form(name, description["components"]["schemas"][name]) for name in _names_used(description)),
    )


def _operations(description: Mapping[str, Any]) -> Iterator[Operation]:
    for address, methods in description["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield _operation(address, method, methods[method])


def _operation(address: str, method: str, given: Mapping[str, Any]) -> Operation:
    body = given.get("requestBody", {})
    return Operation(
        anchor=f"{method}-{address.strip('/').translate(str.maketrans('/', '-', '{}'))}",
        method=method.upper(),
        address=address,
        summary=given.get("summary", ""),
        description=_words(given.get("description", "")),
        parameters=tuple(_parameter(each) for each in given.get("parameters", ())),
        bodies=tuple(body.get("content", ())),
        body_description=body.get("description", ""),
        answers=tuple(_answer(status, answer) for status, answer in given["responses"].items()),
    )


def _parameter(given: Mapping[str, Any]) -> Parameter:
    schema = given.get("schema", {})
    return Parameter(
        name=given["name"],
        place=given["in"],
        is_required=given.get("required", False),
        kind=_kind(schema),
        description=_words(given.get("description") or schema.get("description", "")),
    )


def _answer(status: object, given: Mapping[str, Any]) -> Answer:
    schema: Mapping[str, Any] = next((content.get("schema", {}) for content in given.get("content", {}).values()), {})
    name = _name(schema)
    meaning = HTTPStatus(int(str(status))).phrase
    return Answer(str(status), meaning, name or _kind(schema), f"form-{name}" if name else "")


def _form(name: str, given: Mapping[str, Any]) -> Form:
    required = given.get("required", ())
    members = (
        Parameter(member, "", member in required, _kind(schema), _words(schema.get("description", "")))
        for member, schema in given.get("properties", {}).items()
    )
    return Form(f"form-{name}", name, _words(given.get("description", "")), tuple(members))


def _words(text: str) -> Words:
    parts = _BACKTICKS.split(text)
    return tuple(Piece(part, bool(index % 2)) for index, part in enumerate(parts) if part)


def _names_used(description: Mapping[str, Any]) -> list[str]:
    """Return the names of the forms of bodies and answers, and of what these are made of, in order."""
    schemas = description["components"]["schemas"]
    used: set[str] = set()
    new = set(_references(description["paths"]))
    while new:
        used |= new
        new = {name for each in new for name in _references(schemas[each])} - used
    return sorted(used)


def _references(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        if "$ref" in value:
            yield _name(value)
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _kind(schema: Mapping[str, Any]) -> str:
    """Say a JSON schema in words, as far as our own descriptions use it."""
    if name := _name(schema):
        return name
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    kind = str(schema.get("format") or schema.get("type") or "any value")
    limits = {"minimum": "from {}", "maximum": "to {}", "maxLength": "of at most {:,} characters"}
    bounds = [words.format(schema[name]) for name, words in limits.items() if name in schema]
    return " ".join(["text" if kind == "string" else kind, *bounds])
