"""How somebody goes through the pages: with a mouse, with a mouse and without script, with the keyboard alone."""

import time
from collections.abc import Callable
from typing import Final

from playwright.sync_api import Locator, Page, expect

from tests.harness.browser import MOST_WAIT

MOST_TABS: Final = 120
"""Presses of the Tab key after which a control counts as out of reach."""

FOCUSED: Final = "element => element === document.activeElement"
SEEN: Final = """element => {
  const style = getComputedStyle(element)
  const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
  return ring || style.boxShadow !== 'none'
}"""


class Mouse:
    """Clicks."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, control: Locator) -> None:
        """Follows a link, or presses a button."""
        control.click()

    def write(self, field: Locator, text: str) -> None:
        """Replaces the value of a field."""
        field.fill(text)

    def tick(self, box: Locator) -> None:
        """Ticks a box, or chooses one of several."""
        box.check()

    def choose(self, box: Locator, value: str) -> None:
        """Chooses from a list."""
        box.select_option(value)

    def await_sight(self, what: Callable[[], Locator]) -> None:
        """Waits until something is to be seen, which the page is to show by itself."""
        expect(what().first).to_be_visible()


class Scriptless(Mouse):
    """Clicks in a browser that runs no script: nothing appears by itself."""

    def await_sight(self, what: Callable[[], Locator]) -> None:
        """Loads the page again until something is to be seen."""
        deadline = time.monotonic() + MOST_WAIT / 1_000
        while not (what().count() and what().first.is_visible()):
            assert time.monotonic() < deadline, self.page.content()
            self.page.reload()


class Keyboard(Mouse):
    """Presses keys, and sees where the focus is."""

    def press(self, control: Locator) -> None:
        """Goes to a link or button with the Tab key and presses Enter."""
        self._reach(control)
        self.page.keyboard.press("Enter")

    def write(self, field: Locator, text: str) -> None:
        """Goes to a field and types in place of its value."""
        self._reach(field)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def tick(self, box: Locator) -> None:
        """Goes to a box and presses the space bar."""
        if box.get_attribute("type") == "radio":
            box.focus()  # The arrows go from one to the next; which of them, is the browser's business.
        else:
            self._reach(box)
        if not box.is_checked():
            self.page.keyboard.press("Space")

    def choose(self, box: Locator, value: str) -> None:
        """Goes to a list and types the beginning of the wanted choice."""
        self._reach(box)
        self.page.keyboard.type(box.locator(f"option[value='{value}']").inner_text())

    def _reach(self, control: Locator) -> None:
        control.wait_for()
        for _ in range(MOST_TABS):
            if control.evaluate(FOCUSED):
                assert control.evaluate(SEEN), f"nobody sees that the focus is on {control}"
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{MOST_TABS} times Tab do not lead to {control}")
