"""``POST /api/v1/runs/import`` with results of the scenario harness."""

import json

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from reports.models import Run
from tests.importers.harness_files import lines, report, row

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
