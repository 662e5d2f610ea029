"""Services that are there are used, those that are missing are told, and required ones fail the session."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.plugin import Service, Services, find, needs_of, without_password


def connects(address: str) -> None:
    if "dead" in address:
        raise ConnectionError(f"refused by {address.split('@')[-1]}")


def found_at(configured: str, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("SOME_URL", configured)
    return find("redis", connects, variable="SOME_URL", schemes=("redis",), usual="redis://usual")


def test_the_configured_address_is_taken_when_it_is_of_the_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_at("redis://mine", monkeypatch) == Service("redis", "redis://mine", serves_all=True)
    assert found_at("amqp://other", monkeypatch) == Service("redis", "redis://usual")
    assert found_at("", monkeypatch) == Service("redis", "redis://usual")


def test_what_does_not_answer_is_missing_and_tells_why_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    service = found_at("redis://me:secret@dead", monkeypatch)

    assert not service.is_found
    assert service.described(used=0, left_out=2) == (
        "redis: missing, 2 tests left out (redis://me:…@dead: refused by dead)"
    )


def test_a_service_tells_how_many_tests_used_it() -> None:
    assert Service("redis", "redis://a").described(used=1, left_out=0) == "redis: redis://a, 1 test used it"
    assert Service("redis", "redis://a", serves_all=True).described(used=0, left_out=0) == (
        "redis: redis://a, the site under test used it"
    )


def test_a_password_never_shows() -> None:
    assert without_password("amqp://guest:guest@host:5672//") == "amqp://guest:…@host:5672//"
    assert without_password("/usr/bin/chromium") == "/usr/bin/chromium"


def session(**found: bool) -> Services:
    return Services({name: Service(name, "x" if there else "", "gone") for name, there in found.items()})


@pytest.mark.parametrize("required", ["", "redis", " redis , "])
def test_required_services_that_are_there_let_the_session_go_on(required: str) -> None:
    session(redis=True, browser=False).check_required(required)


@pytest.mark.parametrize(
    ("required", "sentence"),
    [("redis,browser", "browser is missing"), ("radish", "'radish' is none of redis, browser")],
)
def test_a_required_service_that_is_missing_or_unknown_ends_the_session(required: str, sentence: str) -> None:
    with pytest.raises(pytest.UsageError, match=sentence):
        session(redis=True, browser=False).check_required(required)


def item(*fixtures: str) -> Any:
    return SimpleNamespace(fixturenames=fixtures)


def test_a_test_needs_the_services_whose_fixtures_it_asks_for() -> None:
    assert needs_of(item("tmp_path", "redis_url", "page", "context")) == {"redis", "browser"}


def test_tests_that_lack_a_service_are_left_out_and_counted() -> None:
    told: list[Any] = []
    hook = SimpleNamespace(pytest_deselected=lambda items: told.extend(items))
    lacking, complete = item("page", "redis_url"), item("redis_url")
    items = [lacking, complete]
    services = session(redis=True, browser=False)

    services.pytest_collection_modifyitems(config=SimpleNamespace(hook=hook), items=items)  # type: ignore[arg-type]

    assert items == [complete]
    assert told == [lacking]
    assert services.left_out == {"browser": 1}


def test_browser_tests_come_last_and_the_others_keep_their_order() -> None:
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    one, two, three = item("db"), item("page"), item("tmp_path")
    items = [one, two, three]

    services = session(redis=True, browser=True)
    services.pytest_collection_modifyitems(config=SimpleNamespace(hook=hook), items=items)  # type: ignore[arg-type]

    assert items == [one, three, two]
