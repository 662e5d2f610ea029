"""Keys, pressed when the page hears them."""

from playwright.sync_api import Page


def press(page: Page, key: str) -> None:
    """Press a key once every module of the page has started; before that a key may go unheard."""
    page.locator("html[data-started]").wait_for()
    page.keyboard.press(key)
