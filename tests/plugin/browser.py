"""A headless Chromium for the tests of the HTML report, driven through selenium."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
)


def found() -> tuple[str, str]:
    """The browser and its driver; the test is skipped where one of them is not installed."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        missing = "chromedriver" if browser else " or ".join(BROWSERS)
        pytest.skip(f"no browser to open the page in: {missing} is not installed")
    return browser, driver


@contextlib.contextmanager
def started(width: int = 1400, height: int = 1000) -> Iterator[Any]:
    """A browser with an empty profile; its console's messages and its requests are kept."""
    webdriver = pytest.importorskip("selenium.webdriver")
    service = pytest.importorskip("selenium.webdriver.chrome.service")
    browser, driver = found()
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        size = f"--window-size={width},{height}"
        for argument in (*ARGUMENTS, size, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        opened = webdriver.Chrome(options=options, service=service.Service(driver))
        try:
            yield opened
        finally:
            opened.quit()


def choose_scheme(browser: Any, scheme: str) -> None:
    """Ask the page for "light" or "dark"."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def whole_page(browser: Any, path: Path, height: int | None = None) -> None:
    """Write a picture of the page from its top, all of it unless ``height`` is given."""
    import base64

    full = browser.execute_script("return document.documentElement.scrollHeight")
    width = browser.execute_script("return innerWidth")
    clip = {"x": 0, "y": 0, "width": width, "height": height or full, "scale": 1}
    shot = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
    )
    path.write_bytes(base64.b64decode(shot["data"]))


def settle(browser: Any) -> None:
    """Wait until the page has handled its events and is drawn."""
    browser.execute_async_script(
        "const done = arguments[0]; setTimeout(() => requestAnimationFrame(done))"
    )
