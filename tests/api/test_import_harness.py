"""``POST /api/v1/runs/import`` with results of the scenario harness."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from reports.models import Run
from tests.importers.harness_files import lines, report, row

ADDRESS = "/api/v1/runs/import"
SCENARIO = json.dumps({"id": "greet", "prompt": "Hello there", "expected": {"assistant_contains": ["Hi"]}})


def test_the_api_takes_them_as_parameters_of_the_address(writer: Client) -> None:
    address = "/api/v1/runs/import?target=assistant&fingerprint=abc&suite=smoke"

    first = writer.post(address, lines(row()), content_type="application/x-ndjson")
    second = writer.post(address, report(row()), content_type="application/json")
    without = writer.post("/api/v1/runs/import", lines(row()), content_type="application/x-ndjson")

    assert (first.status_code, second.status_code) == (201, 200)
    assert Run.objects.get().revision.suite.suite_id == "smoke"
    assert (without.status_code, without.json()["code"]) == (422, "target_needed")
    assert without.json()["paths"] == ["target", "fingerprint"]


def test_the_api_takes_the_scenario_file_beside_the_results(writer: Client) -> None:
    sent = {
        "file": SimpleUploadedFile("results.jsonl", lines(row())),
        "scenarios": SimpleUploadedFile("scenarios.jsonl", SCENARIO.encode()),
    }

    response = writer.post("/api/v1/runs/import?target=assistant&fingerprint=abc", sent)

    assert response.status_code == 201
    exported = writer.get(f"/api/v1/runs/{response.json()['id']}/report")
    whole = json.loads(exported.getvalue())
    assert whole["suite"]["scenarios"][0]["steps"][0]["input"] == {"text": "Hello there"}


def sent(**fields: object) -> dict[str, object]:
    return {"file": SimpleUploadedFile("results.jsonl", lines(row())), **fields}


def test_a_form_may_say_them_as_fields(writer: Client) -> None:
    response = writer.post(ADDRESS, sent(target=" assistant ", fingerprint="abc", suite="smoke"))

    assert response.status_code == 201
    run = Run.objects.get()
    assert (run.version.target.target_id, run.version.fingerprint) == ("assistant", "abc")
    assert run.revision.suite.suite_id == "smoke"


def test_what_a_form_and_the_address_both_say_must_agree(writer: Client) -> None:
    agreeing = writer.post(f"{ADDRESS}?target=assistant", sent(target="assistant", fingerprint="abc"))
    other = writer.post(f"{ADDRESS}?target=assistant", sent(target="somebody", fingerprint="abc"))

    assert agreeing.status_code == 201
    assert (other.status_code, other.json()["paths"]) == (422, ["body.target"])


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"targget": "assistant"}, "body.targget"),
        ({"scenarios": SCENARIO}, "body.scenarios"),
        ({"target": ["assistant", "other"]}, "body.target"),
        ({"fingerprint": "x" * 501}, "body.fingerprint"),
    ],
)
def test_a_field_that_is_not_understood_is_refused_by_its_name(
    writer: Client, fields: dict[str, object], path: str
) -> None:
    response = writer.post(ADDRESS, sent(**({"target": "assistant", "fingerprint": "abc"} | fields)))

    assert (response.status_code, response.json()["code"]) == (422, "parameters_invalid")
    assert path in response.json()["paths"]
    assert not Run.objects.exists()


def test_a_parameter_that_is_not_known_is_refused_by_its_name(writer: Client) -> None:
    response = writer.post(f"{ADDRESS}?targget=assistant", lines(row()), content_type="application/x-ndjson")

    assert (response.status_code, response.json()["paths"]) == (422, ["query.targget"])
