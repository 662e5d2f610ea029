"""The page that documents the API, made from its own OpenAPI description."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Parameter:
    """``kind`` is its type and range in words."""

    name: str
    place: str
    is_required: bool
    kind: str
    description: str


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
    description: str
    parameters: tuple[Parameter, ...]
    bodies: tuple[str, ...]
    body_description: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """One named form of an answer: its members and, as text, its JSON schema."""

    anchor: str
    name: str
    description: str
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
        forms=tuple(_form(name, form) for name, form in sorted(description["components"]["schemas"].items())),
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
        description=given.get("description", ""),
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
        description=given.get("description") or schema.get("description", ""),
    )


def _answer(status: object, given: Mapping[str, Any]) -> Answer:
    schema: Mapping[str, Any] = next((content.get("schema", {}) for content in given.get("content", {}).values()), {})
    name = _name(schema)
    meaning = HTTPStatus(int(str(status))).phrase
    return Answer(str(status), meaning, name or _kind(schema), f"form-{name}" if name else "")


def _form(name: str, given: Mapping[str, Any]) -> Form:
    required = given.get("required", ())
    members = (
        Parameter(member, "", member in required, _kind(schema), schema.get("description", ""))
        for member, schema in given.get("properties", {}).items()
    )
    return Form(f"form-{name}", name, given.get("description", ""), tuple(members))


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
    limits = {"minimum": "from", "maximum": "to", "maxLength": "at most"}
    bounds = [f"{words} {schema[name]}" for name, words in limits.items() if name in schema]
    return " ".join([kind, *bounds])
