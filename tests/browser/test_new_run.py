"""Starting a run and watching it: the form counts as one types, the page moves by itself and keeps the focus."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from reports.models import Run
from tests.execution.conftest import Ask, Start, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import start_worker as start_worker
from tests.execution.conftest import targets_file as targets_file

pytestmark = pytest.mark.django_db(transaction=True)

WIDTHS = (360, 1280, 2560)
LONG_MS = 45_000  # a worker starts in a few seconds


def expect_sound(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_form_is_accessible_at_every_width_with_and_without_faults(
    signed_in_page: Page, live_server: LiveServer, theme: str
) -> None:
    page = signed_in_page
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{live_server.url}/runs/new/")
        page.locator("summary", has_text="Limits").click()
        expect_sound(page)
        page.get_by_label("Repetitions").fill("0")
        page.get_by_label("Concurrency").fill("33")
        expect(page.locator("#faults-concurrency")).to_contain_text("EVALUATION_OPTIONS_INVALID")
        expect_sound(page)


def test_the_form_counts_while_one_types_and_keeps_what_was_chosen(
    signed_in_page: Page, live_server: LiveServer
) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}/runs/new/")
    plan = page.locator("#new-run-plan")

    page.get_by_label("Repetitions").fill("3")
    expect(plan).to_contain_text("2 scenarios in 4 variants × 3 repetitions = 12 cases, 18 turns")
    page.get_by_label("Choose a product").check()
    expect(plan).to_contain_text("1 scenario in 2 variants × 3 repetitions = 6 cases, 12 turns")
    expect(page.get_by_label("Choose a product")).to_be_checked()
    expect(page.get_by_label("Choose a product")).to_be_focused()
    page.get_by_role("button", name="Start run").click()

    expect(page.locator(".live__sentence")).to_contain_text("Waiting for a worker: 6 cases, 12 turns.")
    expect_sound(page)


def test_a_suite_brought_along_is_chosen_and_its_scenarios_are_offered(
    signed_in_page: Page, live_server: LiveServer, tmp_path: Path, targets_file: Path
) -> None:
    page = signed_in_page
    judged = 'targets:resuming"\nevaluators = "evalrunner.examples.catalogue:evaluators"'
    targets_file.write_text(targets_file.read_text().replace('targets:resuming"', judged))
    suite = Path(__file__).parents[2] / "vendor/evalrunner/evalrunner/examples/catalogue/evaluation.suite.json"
    page.goto(f"{live_server.url}/runs/new/")
    expect(page.locator("#new-run-plan")).to_contain_text("Choose a suite")

    page.get_by_label("Or bring a suite along").set_input_files(suite)

    expect(page.get_by_label("Suite", exact=True)).to_contain_text("Catalogue conversations")
    expect(page.locator("#new-run-plan")).to_contain_text("= 4 cases, 6 turns")
    expect(page.get_by_role("checkbox", name="Choose a product")).to_be_visible()
    expect_sound(page)


def test_a_run_is_watched_keeps_the_focus_and_is_cancelled(
    signed_in_page: Page, live_server: LiveServer, ask: Ask, start_worker: Start, tmp_path: Path
) -> None:
    page = signed_in_page
    first, second = tmp_path / "first", tmp_path / "second"
    first.touch()
    second.touch()
    steps = [{"hold": str(first)}, {"hold": str(second)}]
    run = ask(scenario("quick", {}), scenario("held", *steps), scenario("never", {}))
    start_worker()
    page.goto(f"{live_server.url}/runs/{run.pk}/")

    held = page.locator(".live__cases a")
    expect(page.locator(".live__turn")).to_have_text("turn 1 of 2: step-1", timeout=LONG_MS)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        expect_sound(page)
    held.focus()
    first.unlink()
    expect(page.locator(".live__turn")).to_have_text("turn 2 of 2: step-2")
    expect(held).to_be_focused()
    expect(page.locator(".live__sentence")).to_contain_text("1 of 3 cases done, 1 running, 1 waiting.")

    page.get_by_role("button", name="Cancel run").click()

    expect(page.locator(".page__answer")).to_contain_text("Cancelled: 1 of 1 decided cases passed", timeout=LONG_MS)
    expect(page.locator("#live-progress")).to_have_count(0)
    expect_sound(page)
    assert Run.objects.get(pk=run.pk).status == "cancelled"


def test_the_timeline_grows_without_repeating_itself(
    signed_in_page: Page, live_server: LiveServer, ask: Ask, start_worker: Start, tmp_path: Path
) -> None:
    page = signed_in_page
    hold = tmp_path / "hold"
    hold.touch()
    run = ask(
        *(scenario(f"case-{number}", {"wait_ms": 300}, {}) for number in range(5)), scenario("x", {"hold": str(hold)})
    )
    start_worker()
    page.goto(f"{live_server.url}/runs/{run.pk}/")

    expect(page.locator(".live__sentence")).to_contain_text("5 of 6 cases done, 1 running", timeout=LONG_MS)
    numbers = page.locator("#live-events .number")
    expect(numbers).to_have_count(22)  # the run, five cases of four events, and the last one's beginning

    assert [text.strip() for text in numbers.all_inner_texts()] == [str(number) for number in range(1, 23)]
    hold.unlink()
    expect(page.locator(".page__answer")).to_contain_text("Passed: 6 of 6 decided cases passed")
