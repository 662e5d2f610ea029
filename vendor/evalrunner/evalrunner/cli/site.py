"""Giving a report to a site: one request, and what its answer means.

On the standard library alone, so that publishing needs nothing that running does not. The report is sent from its file
as it lies there, whatever its size, packed or not; the site reads it piece by piece and knows it by its ``runId``, so
the same report may be sent any number of times. Redirects are not followed: the token is for the site that was named.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import ssl
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

from evalrunner.cli.inputs import InputError, UnreadableError
from evalrunner.cli.progress import printable

IMPORT_PATH: Final = "/api/v1/runs/import"
CONNECT_S: Final = 10.0
ANSWER_S: Final = 600.0  # a large report is checked and stored before the site answers
LONGEST_WAIT_S: Final = 60.0
_BLOCK_BYTES: Final = 1 << 17
_ANSWER_BYTES: Final = 1 << 20
_SHOWN_FAULTS: Final = 20
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_TYPES: Final = {b"\x1f\x8b": "application/gzip", b"\x28\xb5\x2f\xfd": "application/zstd"}
_OUTCOMES: Final = {"created": "new", "updated": "updated", "unchanged": "was there already"}
_REFUSALS: Final = frozenset({400, 409, 411, 413, 415, 422})
_token = re.compile(r"[\x21-\x7e]+").fullmatch


class SiteError(InputError):
    """The site cannot be used; another report would fare no better."""


class PassingError(SiteError):
    """The site cannot be used now; the same request may succeed after ``wait_s`` seconds (None: it did not say)."""

    def __init__(self, text: str, wait_s: float | None = None) -> None:
        super().__init__(text)
        self.wait_s = wait_s


class AnswerLate(PassingError):
    """The site took the report and has not answered in time; it may still be storing it."""


class ReportRefused(InputError):
    """The site does not take this report; ``code`` is the stable code of its answer."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Published:
    """Where a run can be seen; ``outcome`` is "new", "updated" or "was there already"."""

    url: str
    outcome: str


def token_from(variable: str) -> str:
    """Return the token that an environment variable holds; InputError names the variable, never the token."""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise InputError(f"the environment variable {variable} holds no token; the site's create_token makes one")
    if _token(token) is None:
        raise InputError(f"what the environment variable {variable} holds is no token")
    return token


class Site:
    """A site to publish to. ``text`` is its address; InputError when it is none."""

    def __init__(self, text: str, token: str, *, token_name: str = "the token", answer_s: float = ANSWER_S) -> None:
        self.address = printable(text.rstrip("/"))
        self._token, self._token_name, self._answer_s = token, token_name, answer_s
        try:
            parts = urlsplit(text)
            self._host, self._port = (parts.hostname or "").encode("idna").decode(), parts.port
        except ValueError:  # UnicodeError is one
            raise InputError(f"{text!r} is no address") from None
        self._check(text, parts.scheme, has_more=bool(parts.query or parts.fragment or "@" in parts.netloc))
        self._is_tls = parts.scheme == "https"
        self._path = parts.path.rstrip("/") + IMPORT_PATH

    def _check(self, text: str, scheme: str, *, has_more: bool) -> None:
        if has_more:  # first, since the next sentence repeats the text
            raise InputError("a site is named by its address alone: no user, password, query or fragment")
        if (
            scheme not in ("http", "https")
            or not self._host
            or " " in text
            or not (text.isascii() and text.isprintable())
        ):
            raise InputError(f"{text!r} is no address of a site, for instance https://evals.example.org")

    @property
    def is_exposed(self) -> bool:
        """Whether the token crosses a network unencrypted."""
        return not self._is_tls and self._host not in _LOOPBACK

    def publish(self, path: Path) -> Published:
        """Send a report; SiteError, PassingError, ReportRefused or UnreadableError say why it is not there."""
        try:
            with path.open("rb") as file:
                answer = self._send(file)
        except _LocalError as error:
            raise UnreadableError(f"{path}: {_reason(error.cause)}") from None
        except OSError as error:
            raise UnreadableError(f"{path}: {_reason(error)}") from None
        except ValueError:  # a NUL in the name
            raise UnreadableError(f"{str(path)!r}: no name of a file") from None
        return self._read(answer, path)

    # ------------------------------------------------------------------------------------------------------ request

    def _send(self, file: BinaryIO) -> _Answer:
        try:
            size, kind = _size(file), _content_type(file)
        except OSError as error:
            raise _LocalError(error) from None
        connection = self._connect()
        try:
            return self._exchange(connection, file, {"Content-Type": kind, "Content-Length": str(size)})
        except TimeoutError:
            raise AnswerLate(
                f"{self.address} did not answer within {self._answer_s:g} s; it may still be storing the report"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise PassingError(f"the connection to {self.address} broke: {_reason(error)}") from None
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        connection = self._connection()
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            advice = "SSL_CERT_FILE names a file of further authorities"
            raise SiteError(
                f"{self.address}: its certificate is not trusted: {error.verify_message}; {advice}"
            ) from None
        except ssl.SSLError as error:
            raise SiteError(f"{self.address} does not speak TLS ({error.reason}); is it http://?") from None
        except TimeoutError:
            raise PassingError(f"{self.address} cannot be reached within {CONNECT_S:g} s") from None
        except OSError as error:  # also a name that nobody knows
            raise PassingError(f"{self.address} cannot be reached: {_reason(error)}") from None
        connection.sock.settimeout(self._answer_s)
        return connection

    def _connection(self) -> http.client.HTTPConnection:
        if self._is_tls:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=CONNECT_S, blocksize=_BLOCK_BYTES, context=context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_S, blocksize=_BLOCK_BYTES)

    def _exchange(self, connection: http.client.HTTPConnection, file: BinaryIO, headers: Mapping[str, str]) -> _Answer:
        authority = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        # A site that refuses may close before it has everything; its answer may be there nevertheless.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", self._path, body=file, headers={**authority, **headers})
        response = connection.getresponse()
        return _Answer(response.status, dict(response.getheaders()), response.read(_ANSWER_BYTES))

    # ------------------------------------------------------------------------------------------------------- answer

    def _read(self, answer: _Answer, path: Path) -> Published:
        document = answer.document()
        if answer.status in (200, 201):
            return self._published(document)
        if 300 <= answer.status < 400:
            raise SiteError(self._redirected(answer))
        if answer.status == 429 or answer.status >= 500:
            raise PassingError(self._failed(answer, document), answer.wait_s())
        if answer.status in _REFUSALS and "code" in document:
            raise ReportRefused(*_refusal(path, document))
        raise SiteError(self._failed(answer, document))

    def _published(self, document: Mapping[str, Any]) -> Published:
        url, outcome = document.get("url"), document.get("outcome")
        if not isinstance(url, str) or outcome not in _OUTCOMES:
            raise SiteError(f"{self.address} is no Evalsite: its answer names no run")
        return Published(printable(url), _OUTCOMES[outcome])

    def _redirected(self, answer: _Answer) -> str:
        place = printable(answer.headers.get("Location", "")).removesuffix(IMPORT_PATH)
        return f"{self.address} redirects to {place or 'another address'}, which is not followed; give it as --site"

    def _failed(self, answer: _Answer, document: Mapping[str, Any]) -> str:
        said = printable(str(document.get("detail", "")))
        if answer.status in (401, 403) and said:
            return f"{self.address} does not accept {self._token_name} ({answer.status}): {said}"
        if answer.status == 413:
            return f"{self.address}: something before the site takes no report of this size (413); raise its limit"
        hint = "" if said or answer.status >= 429 else "; is it an Evalsite?"
        return f"{self.address} answered {answer.status} {_phrase(answer.status)}{f': {said}' if said else hint}"


class _LocalError(Exception):
    """Reading the report failed, not sending it."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> Mapping[str, Any]:
        """Return the JSON object that the body holds; {} when it holds none."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def wait_s(self) -> float | None:
        text = self.headers.get("Retry-After", "")
        return min(float(text), LONGEST_WAIT_S) if text.isascii() and text.isdigit() else None


def _size(file: BinaryIO) -> int:
    """Return the length of a regular file; the site must be told beforehand."""
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        raise OSError("a device or a pipe, not a file")
    return found.st_size


def _content_type(file: BinaryIO) -> str:
    begin = file.read(4)
    file.seek(0)
    return next((kind for magic, kind in _TYPES.items() if begin.startswith(magic)), "application/json")


def _refusal(path: Path, document: Mapping[str, Any]) -> tuple[str, str]:
    """Say what the site says, with the first places at fault."""
    code = printable(str(document["code"]))
    lines = [f"{path}: refused ({code}): {printable(str(document.get('detail', '')))}"]
    given = document.get("faults")
    faults = [fault for fault in given if isinstance(fault, dict)] if isinstance(given, list) else []
    for fault in faults[:_SHOWN_FAULTS]:
        lines.append(printable(f"  {fault.get('path') or 'the report'}: {fault.get('sentence', '')}"))
    if len(faults) > _SHOWN_FAULTS:
        lines.append(f"  … and {len(faults) - _SHOWN_FAULTS} more")
    return "\n".join(lines), code


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error) or type(error).__name__).lower()
