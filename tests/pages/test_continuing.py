"""The pages before a run is resumed or retried."""

import html
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Case, Execution, Run, Team, User
from reports.services.executing import execute_run
from reports.services.recount import recount_run
from tests import factories
from tests.execution.conftest import Ask, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file
from tests.execution.reports import report_of

pytestmark = pytest.mark.django_db(transaction=True)


def executed(run: Run) -> Run:
    execute_run(run_pk=run.pk)
    return Run.objects.get(pk=run.pk)


def external(scenario_id: str, *inputs: dict[str, Any]) -> dict[str, Any]:
    return scenario(scenario_id, *inputs) | {"writePolicy": "external"}


def text(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return html.unescape(response.content.decode())


@pytest.fixture
def run(ask: Ask) -> Run:
    """An ended run with a passed, a failed and a pending case."""
    return executed(ask("good", scenario("bad", {"answer": "no"}), "never", max_failures=1))


@pytest.fixture
def client_of_admin(team: Team) -> Client:
    client = Client()
    client.force_login(factories.make_member(team, "admin"))
    return client


def test_a_run_whose_cases_have_all_ended_but_that_has_no_end_can_be_concluded(
    client_of_runner: Client, ask: Ask
) -> None:
    run = executed(ask("one", "two"))
    Run.objects.filter(pk=run.pk).update(status="interrupted")

    page, form = (text(client_of_runner, f"/runs/{run.pk}/{rest}") for rest in ("", "resume/"))

    assert f'href="/runs/{run.pk}/resume/"' in page and "Conclude the run" in page
    assert "2 cases stay as they are." in form and "its suite's assertions are evaluated" in form
    assert "Conclude the run" in form and "no case would end otherwise" not in form


def test_what_will_happen_is_said_before_the_button(client_of_runner: Client, run: Run) -> None:
    page = text(client_of_runner, f"/runs/{run.pk}/retry/")

    assert "2 cases begin afresh, as new conversations." in page
    assert f'href="/runs/{run.pk}/cases/1/"' in page
    assert "1 case stays as it is." in page
    assert "Retry 2 cases" in page
    assert "Resume 1 case" in text(client_of_runner, f"/runs/{run.pk}/resume/")
    assert Execution.objects.count() == 1


def test_the_form_sent_twice_starts_one_run_and_leads_to_it(client_of_runner: Client, run: Run) -> None:
    key = {"key": "form-1"}
    answers = [client_of_runner.post(f"/runs/{run.pk}/retry/", key) for _ in range(2)]

    made = Execution.objects.get(verb="retry")
    assert [answer.headers["Location"] for answer in answers] == [f"/runs/{made.pk}/"] * 2


def test_a_refusal_is_said_in_words_with_a_way_out(client_of_runner: Client, team: Team) -> None:
    imported = factories.stored(team, factories.report("PF"))

    page = text(client_of_runner, f"/runs/{imported.pk}/retry/", status=409)

    assert "The target desk.agent is not registered on this site" in page
    assert "Start a fresh run" in page
    assert "<form" not in page.partition("<main")[2].partition("</main")[0]


def test_viewers_and_other_teams_do_not_get_there(client_of_viewer: Client, client_of_runner: Client, run: Run) -> None:
    foreign = factories.stored(factories.make_team(), factories.report("F"))

    assert client_of_viewer.get(f"/runs/{run.pk}/retry/").status_code == 403
    assert client_of_viewer.post(f"/runs/{run.pk}/retry/").status_code == 403
    assert client_of_runner.get(f"/runs/{foreign.pk}/retry/").status_code == 404
    assert client_of_runner.get(f"/runs/{foreign.pk}/retry/receipts/").status_code == 404
    assert client_of_runner.get(f"/runs/{run.pk}/restart/").status_code == 404


def test_only_an_admin_authorises_writes_anew(
    ask: Ask, client_of_runner: Client, client_of_admin: Client, runner: User
) -> None:
    run = executed(ask(external("writes")))
    address = f"/runs/{run.pk}/retry/"

    shown = text(client_of_runner, address)
    refused = client_of_runner.post(address, {"allow_external_writes": "on"})
    allowed = client_of_admin.post(address, {"allow_external_writes": "on"})

    assert "1 case ends blocked: it writes outside, which is not authorised." in shown
    assert "Only an admin of the team may authorise them" in shown
    assert (refused.status_code, allowed.status_code) == (409, 302)
    assert executed(Execution.objects.get(verb="retry").run).passed == 1


def test_there_is_no_button_where_cases_would_only_be_blocked(
    ask: Ask, client_of_runner: Client, client_of_admin: Client
) -> None:
    run = executed(ask(external("writes", {}), may_write=True, allow_external_writes=True))
    Case.objects.filter(generation=run.generation).update(status="cancelled")
    Run.objects.filter(pk=run.pk).update(status="cancelled", cancelled=1, passed=0)
    unauthorised = executed(ask(external("writes")))

    page, offered = (
        text(client_of_admin, f"/runs/{each.pk}/{verb}/") for each, verb in ((run, "resume"), (unauthorised, "retry"))
    )
    shown = text(client_of_runner, f"/runs/{unauthorised.pk}/retry/")
    refused = client_of_admin.post(f"/runs/{run.pk}/resume/")

    assert "No case would be executed, so there is no use in it." in page and "look at its receipts" in page
    assert "Resume 0 cases" not in page and "button--filled" not in page.partition("<main")[2]
    assert "Retry with external writes" in offered and "no use in it" not in offered
    assert "No case would be executed unless external writes are allowed." in offered
    assert "Retry with" not in shown and "Only an admin of the team may authorise them" in shown
    assert refused.status_code == 409 and "No case would be executed. 1 case is blocked" in refused.content.decode()
    assert Execution.objects.filter(verb="resume").count() == 0


def test_receipts_show_what_a_write_left_and_offer_an_admin_to_run_it_afresh(
    ask: Ask, client_of_runner: Client, client_of_admin: Client
) -> None:
    run = executed(ask(external("wrote", {"answer": "<b>half done</b>"}), may_write=True, allow_external_writes=True))
    address = f"/runs/{run.pk}/retry/"

    page = text(client_of_runner, address)
    raw = client_of_runner.get(f"{address}receipts/").content.decode()
    for_admin = text(client_of_admin, f"{address}receipts/")

    assert "is blocked: it may have written outside already" in page
    assert f'href="{address}receipts/"' in page
    assert "&lt;b&gt;half done&lt;/b&gt;" in raw and "<b>half" not in raw
    assert "Only an admin may authorise them anew" in raw
    assert f"/runs/new/?rerun={run.pk}&only=failures&scenarios=wrote" in for_admin


def retried(client: Client, run: Run) -> Run:
    client.post(f"/runs/{run.pk}/retry/")
    return executed(Execution.objects.get(verb="retry").run)


@pytest.fixture
def pair(ask: Ask, client_of_runner: Client, tmp_path: Path) -> tuple[Run, Run]:
    """A run with a passed and a failed case, and its retry, in which both pass."""
    mended = tmp_path / "mended"
    run = executed(ask("good", scenario("flaky", {"answer": "no", "unless": str(mended)})))
    mended.touch()
    return run, retried(client_of_runner, run)


def test_the_run_page_offers_the_verbs_with_their_numbers(
    client_of_runner: Client, client_of_viewer: Client, run: Run
) -> None:
    page = text(client_of_runner, f"/runs/{run.pk}/")

    assert f'href="/runs/{run.pk}/retry/">Retry 1 failed case</a>' in page
    assert f'href="/runs/{run.pk}/resume/">Resume 1 case</a>' in page
    assert f"/runs/new/?rerun={run.pk}&only=failures" in page
    assert f"/runs/{run.pk}/retry/" not in text(client_of_viewer, f"/runs/{run.pk}/")


def test_a_retry_never_improves_the_rate_and_says_what_it_would_be(
    client_of_runner: Client, pair: tuple[Run, Run]
) -> None:
    page = text(client_of_runner, f"/runs/{pair[1].pk}/")

    assert "Passed on retry: 1 of 2 decided cases passed (50%); after retries 2 of 2 (100%)." in page
    assert page.count("passed on retry") == 1
    assert "1 case passes on retry." in page


def test_lineage_is_shown_both_ways(client_of_runner: Client, pair: tuple[Run, Run]) -> None:
    first, second = pair

    assert f'Retried in <a href="/runs/{second.pk}/">' in text(client_of_runner, f"/runs/{first.pk}/")
    assert f'Retry of <a href="/runs/{first.pk}/">' in text(client_of_runner, f"/runs/{second.pk}/")


def test_the_list_marks_a_retry_and_shows_the_rate_of_first_attempts(
    client_of_runner: Client, pair: tuple[Run, Run]
) -> None:
    page = text(client_of_runner, "/runs/")

    assert '<span class="tag">retry</span>' in page
    assert "1 of 2 decided; after retries 100%" in page


def test_stored_counts_of_first_attempts_can_be_rebuilt(pair: tuple[Run, Run]) -> None:
    Run.objects.filter(pk=pair[1].pk).update(first_counts=None)
    run = Run.objects.get(pk=pair[1].pk)

    (found,) = [each for each in recount_run(run, repair=True) if each.place == "first_counts"]

    assert found.stored is None
    assert recount_run(Run.objects.get(pk=run.pk), repair=False) == ()


def test_a_parent_that_is_imported_after_its_retry_is_counted_then(team: Team) -> None:
    cases = [factories.case("failed"), factories.case("passed", scenario_id="other")]
    parent = factories.report(cases=cases, runId="parent", startedAt="2026-03-01T09:05:00.000Z")
    child = factories.report(
        cases=[factories.case("passed"), factories.case("passed", scenario_id="other")], resumedFrom="parent"
    )
    stored = factories.stored(team, child)
    assert stored.first_counts is None

    factories.stored(team, parent)

    stored.refresh_from_db()
    assert stored.first_counts is not None
    assert (stored.first_counts["passed"], stored.first_counts["failed"]) == (1, 1)


def main_of(page: str) -> str:
    return page.partition("<main")[2].partition("</main")[0]


def test_an_imported_run_is_retried_from_its_page_where_its_target_can_run_here(
    client_of_runner: Client, team: Team, run: Run
) -> None:
    imported = factories.stored(team, report_of(run) | {"runId": "from-a-laptop"})

    page = text(client_of_runner, f"/runs/{imported.pk}/")

    assert f'href="/runs/{imported.pk}/retry/">Retry 1 failed case</a>' in page
    assert "are not offered" not in page
    text(client_of_runner, f"/runs/{imported.pk}/retry/")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (
            {"target": {"id": "desk.agent", "fingerprint": "one"}},
            "The target desk.agent is not registered on this site",
        ),
        ({"target": {"id": "tests.echo", "fingerprint": "nine"}}, "there is no version 'nine'"),
        ({"fingerprint": "0" * 64}, "with another adapter or adapter version"),
    ],
)
def test_an_imported_run_that_cannot_go_on_here_says_why_and_offers_nothing(
    client_of_runner: Client, team: Team, run: Run, members: dict[str, Any], words: str
) -> None:
    imported = factories.stored(team, report_of(run) | {"runId": "from-a-laptop"} | members)

    page = main_of(text(client_of_runner, f"/runs/{imported.pk}/"))

    assert "Resuming and retrying are not offered." in page and words in page
    assert f"/runs/{imported.pk}/retry/" not in page and f"/runs/{imported.pk}/resume/" not in page
    text(client_of_runner, f"/runs/{imported.pk}/retry/", status=409)


def test_an_imported_run_that_goes_on_elsewhere_is_not_resumed_meanwhile(client_of_runner: Client, team: Team) -> None:
    going_on = factories.report("PFN", status="running")
    going_on.pop("finishedAt")
    imported = factories.stored(team, going_on)

    page = main_of(text(client_of_runner, f"/runs/{imported.pk}/"))

    assert "Resuming and retrying are not offered. <bdi>The run is still published from elsewhere" in page
    assert f"/runs/{imported.pk}/retry/" not in page


def test_nothing_is_said_of_retrying_to_viewers_or_where_nothing_failed(
    client_of_runner: Client, client_of_viewer: Client, team: Team
) -> None:
    passed = factories.stored(team, factories.report("P"))
    failed = factories.stored(team, factories.report("F"))

    assert "are not offered" not in text(client_of_runner, f"/runs/{passed.pk}/")
    assert "are not offered" not in text(client_of_viewer, f"/runs/{failed.pk}/")


def test_a_version_that_a_program_tells_is_not_asked_for_to_show_a_page(
    client_of_runner: Client, run: Run, targets_file: Path, tmp_path: Path
) -> None:
    asked = tmp_path / "asked"
    program = f'["sh", "-c", "echo one; touch {asked}"]'
    targets_file.write_text(targets_file.read_text() + f'[target.fingerprint]\nfrom = "command"\ncommand = {program}\n')

    assert "Retry 1 failed case" in text(client_of_runner, f"/runs/{run.pk}/")
    assert not asked.exists()


def test_offering_the_verbs_costs_the_same_queries_whatever_the_run_holds(client_of_runner: Client, ask: Ask) -> None:
    def queries(count: int) -> int:
        made = executed(ask(*(scenario(f"case-{number}", {"answer": "no"}) for number in range(count))))
        imported = factories.stored(made.team, report_of(made) | {"runId": f"copy-{count}"})
        text(client_of_runner, f"/runs/{imported.pk}/")
        with CaptureQueriesContext(connection) as captured:
            assert "Retry" in text(client_of_runner, f"/runs/{imported.pk}/")
        return len(captured)

    assert queries(2) == queries(30)
