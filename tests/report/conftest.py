"""A real browser, and pages in it that note everything that goes wrong."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

MISSING = (
    "the browser tests need Chromium: run scripts/setup as root, or `apt-get install chromium`, or put one on PATH"
)


def find_chromium() -> str | None:
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Fails, rather than skips, where there is none: these tests are the only ones that see the page."""
    path = find_chromium()
    if path is None:
        pytest.fail(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"], timeout=300_000
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page from disk; at the end there must have been no error in it and no request but for the file itself."""
    problems: list[str] = []
    pages = []

    def opened(path: Path, address: str = "", **options: Any) -> Any:
        page = chromium.new_page(viewport={"width": 1280, "height": 800}, **options)
        pages.append(page)
        page.set_default_timeout(60_000)
        page.on(
            "console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: problems.append(request.url) if not request.url.startswith(("file:", "data:")) else None,
        )
        page.goto(path.resolve().as_uri() + address)
        page.evaluate(
            "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
        )  # what it scrolled to is there
        return page

    yield opened
    for page in pages:
        page.close()
    assert problems == []
