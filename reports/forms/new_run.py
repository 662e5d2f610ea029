"""What the form for a new run holds: read from a request, an address or an earlier run, kept as it was typed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from reports.domain.harness.options import HarnessOptions
from reports.domain.run_draft import RunDraft
from reports.domain.run_options import NUMBERS, RunOptions
from reports.text import restored

MOST_PICKED = 10_000
_LONGEST = 500  # characters of a choice


def read_upload(files: Mapping[str, Any], *, most_bytes: int) -> bytes | None:
    """Return the suite file that came along, one byte more than ``most_bytes`` at most; None without one."""
    upload = files.get("suite_file")
    return upload.read(most_bytes + 1) if isinstance(upload, UploadedFile) else None


def draft_from_form(data: QueryDict) -> RunDraft:
    """Read a sent form."""
    return replace(
        _draft_from(data),
        allow_external_writes="allow_external_writes" in data,
        early_alarm="early_alarm" in data,
        shown=data.get("shown", ""),
        key=data.get("key", ""),
        follow_up=data.get("follow_up", ""),
        follows=data.get("follows", ""),
    )


def draft_from_address(data: QueryDict) -> RunDraft:
    """Read the choices that an address carries; what it leaves out has its default."""
    return replace(_draft_from(data), key=uuid.uuid4().hex)


def with_choices_of(data: QueryDict, draft: RunDraft) -> RunDraft:
    """Replace what an address says itself about a draft: version, scenarios, tags and numbers."""
    said = _draft_from(data)
    return replace(
        draft,
        fingerprint=said.fingerprint or draft.fingerprint,
        scenarios=said.scenarios or draft.scenarios,
        tags=said.tags or draft.tags,
        numbers={**draft.numbers, **{name: value for name, value in said.numbers.items() if value}},
    )


def draft_from_request(target: str, fingerprint: str, revision_pk: int, request: Mapping[str, Any]) -> RunDraft:
    """Fill the form in with the request of an earlier run."""
    options = RunOptions.from_data(request)
    return RunDraft(
        target=target,
        fingerprint=fingerprint,
        suite=f"revision:{revision_pk}",
        scenarios=options.scenario_ids or (),
        tags=options.tags or (),
        numbers={name: str(getattr(options, name)) for name in NUMBERS},
        allow_external_writes=False,  # to be given anew each time
        early_alarm=options.early_alarm,
        harness=options.harness,
        key=uuid.uuid4().hex,
    )


def _draft_from(data: QueryDict) -> RunDraft:
    return RunDraft(
        target=data.get("target", ""),
        fingerprint=data.get("fingerprint", "").strip(),
        suite=data.get("suite", ""),
        scenarios=tuple(name for value in data.getlist("scenarios") for name in value.split())[:MOST_PICKED],
        tags=tuple(map(restored, data.getlist("tags")))[:MOST_PICKED],
        numbers={name: data.get(name, "").strip()[:20] for name in NUMBERS},
        harness=_harness_options(data),
    )


def _harness_options(data: QueryDict) -> HarnessOptions:
    """Read what only forms of targets of kind ``harness`` ask."""
    return HarnessOptions(
        profile=restored(data.get("profile", ""))[:_LONGEST],
        approval_policy=data.get("approval_policy", "")[:_LONGEST],
        sandbox_policy=data.get("sandbox_policy", "")[:_LONGEST],
        exclude_tags=tuple(map(restored, data.getlist("exclude_tags")))[:MOST_PICKED],
        fail_fast="fail_fast" in data,
    )
