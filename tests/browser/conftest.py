"""Debian's Chromium for pytest-playwright, and what holds for every page: no console error, no policy violated."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from reports.models import User
from reports.services.sign_in import create_sign_in_link

# Playwright's loop runs in this thread, which Django takes for an asynchronous context.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

PATIENCE_MS = 10_000
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  const place = `${event.sourceFile}:${event.lineNumber}`;
  console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI} ${place}`);
});
"""


@pytest.fixture(scope="session")
def browser_type_launch_args(chromium_path: str) -> dict[str, Any]:
    return {"executable_path": chromium_path, "args": CHROMIUM_ARGUMENTS}


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    """A page with short patience; the test fails when anything reached the console as an error."""
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(REPORT_VIOLATIONS)
    page.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)

    yield page

    assert errors == []


@pytest.fixture
def signed_in_page(page: Page, live_server: LiveServer, runner: User) -> Page:
    """A page on the site's home, signed in as a runner by a one-time address."""
    page.goto(f"{live_server.url}/sign-in/{create_sign_in_link(user=runner)}/")
    return page
