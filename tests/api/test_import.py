"""``POST /api/v1/runs/import``."""

import gzip
import io
import json

import pytest
import zstandard
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from reports.models import Generation, Run, Team
from tests.bad_reports import BAD_FILES, BAD_NAMES, BadFile, hostile_report
from tests.factories import report

URL = "/api/v1/runs/import"


def send(client: Client, body: bytes, content_type: str = "application/json") -> "tuple[int, dict[str, object]]":
    response = client.post(URL, body, content_type=content_type)
    return response.status_code, response.json()


def test_a_new_report_is_answered_201_with_its_id_and_addresses(writer: Client) -> None:
    value = report("PF")

    response = writer.post(URL, json.dumps(value), content_type="application/json")

    run = Run.objects.get()
    body = response.json()
    assert response.status_code == 201
    assert body == {
        "id": str(run.pk),
        "runId": value["runId"],
        "outcome": "created",
        "url": f"http://testserver/runs/{run.pk}/",
        "api": f"http://testserver/api/v1/runs/{run.pk}",
    }
    assert response["Location"] == body["api"]
    assert (run.origin, run.created_by is not None) == ("api", True)


@pytest.mark.parametrize(
    ("pack", "kind"),
    [
        (bytes, "application/json"),
        (gzip.compress, "application/gzip"),
        (zstandard.compress, "application/zstd"),
        (bytes, "application/octet-stream"),
        (bytes, "application/x-www-form-urlencoded"),
    ],
)
def test_it_is_read_by_content_and_there_afterwards(writer: Client, pack: object, kind: str) -> None:
    body = pack(json.dumps(report("P")).encode())  # type: ignore[operator]

    assert send(writer, body, kind)[0] == 201
    status, answer = send(writer, body, kind)
    assert (status, answer["outcome"]) == (200, "unchanged")


def test_a_form_with_one_file_is_taken(writer: Client) -> None:
    upload = SimpleUploadedFile("nightly.json.gz", gzip.compress(json.dumps(report("P")).encode()))

    response = writer.post(URL, {"file": upload})

    assert response.status_code == 201
    assert Run.objects.get().file_name == "nightly.json.gz"


@pytest.mark.parametrize("count", [0, 2])
def test_a_form_with_another_number_of_files_is_refused(writer: Client, count: int) -> None:
    files = {f"file{number}": io.BytesIO(b"{}") for number in range(count)}

    response = writer.post(URL, files or {"a": "b"})

    assert response.status_code == 422
    assert response.json()["code"] == "one_file"


def test_a_later_snapshot_updates_and_a_contradiction_is_refused_with_409(writer: Client) -> None:
    value = report("PN", status="running")
    assert send(writer, json.dumps(value).encode())[0] == 201

    status, answer = send(writer, json.dumps(value | {"status": "completed"}).encode())
    assert (status, answer["outcome"]) == (200, "updated")

    status, answer = send(writer, json.dumps(value | {"startedAt": "other"}).encode())
    assert (status, answer["code"], answer["paths"]) == (409, "run_differs", ["startedAt"])


@pytest.mark.parametrize("bad", BAD_FILES, ids=BAD_NAMES)
def test_bad_files_are_answered_with_a_problem_and_leave_nothing(writer: Client, bad: BadFile) -> None:
    response = writer.post(URL, bad.make(), content_type="application/json")

    problem = response.json()
    assert (response.status_code, problem["status"], problem["code"]) == (bad.status, bad.status, bad.code)
    assert response["Content-Type"] == "application/problem+json"
    assert problem["detail"]
    if bad.path is not None:
        assert problem["paths"][0] == bad.path
    assert (Run.objects.count(), Generation.objects.count()) == (0, 0)


def test_a_body_of_unknown_length_is_asked_for_its_length(writer: Client) -> None:
    response = writer.generic("POST", URL, b"", headers={"Transfer-Encoding": "chunked"}, CONTENT_LENGTH="")

    assert response.status_code == 411


def test_hostile_text_is_taken_and_every_answer_is_json(writer: Client) -> None:
    status, answer = send(writer, json.dumps(hostile_report()).encode())
    assert status == 201

    for path in ("", "/cases", "/cases/0", "/cases/1"):
        response = writer.get(f"/api/v1/runs/{answer['id']}{path}")
        assert response.status_code == 200
        response.content.decode("ascii")
    run = writer.get(f"/api/v1/runs/{answer['id']}").json()
    assert run["runId"] == hostile_report()["runId"]
    assert run["target"]["fingerprint"] == hostile_report()["target"]["fingerprint"]


def test_an_import_goes_to_the_team_of_the_token(writer: Client, team: Team) -> None:
    send(writer, json.dumps(report("P")).encode())

    assert Run.objects.get().team == team
