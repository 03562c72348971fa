"""Make the pictures of the documentation: ``python -m docs.pictures.make_pictures``.

The failure table becomes a drawing of text; the HTML report is photographed in a headless Chromium,
in light and in dark, so that `chromium` and `chromedriver` have to be installed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import numpy as np

import exactref as er
from tests.plugin import browser as browsers

HERE = Path(__file__).parent
KERNELS = HERE / "faulty_kernels.py"
SESSION = ("-q", "-p", "no:cacheprovider", "-p", "no:benchmark", "--exactref", "--exactref-seed=3")
# The check that is open in each picture, and how much of the page is shown.
OPENED = {
    "light": ("test_last_tile_is_never_written", 1280),
    "dark": ("test_one_head_reads_tfloat32", 1420),
}
WIDTH = 1280
COLUMN, LINE = 7.83, 19  # of a character of 13 pixels
NO_BREAK = "\N{NO-BREAK SPACE}"  # spaces in a row would be drawn as one
COLORS = {"wrong": "#ff9cb2", "correct but worse": "#f2bd55"}


def failure() -> str:
    """The failure of a product whose last two columns are never written."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((6, 40)).astype(np.float32)
    B = rng.standard_normal((40, 10)).astype(np.float32)
    out = np.zeros((6, 10), dtype=np.float32)
    out[:, :8] = A.astype(np.float64) @ B[:, :8]
    try:
        er.assert_covers(out, er.matmul(A, B), rows=8)
    except AssertionError as error:
        return str(error)
    raise RuntimeError("the planted fault was not found")


def drawing(text: str) -> str:
    """A terminal's window that shows ``text``, as SVG."""
    lines = text.splitlines()
    width = round(max(map(len, lines)) * COLUMN + 48)
    height = len(lines) * LINE + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"',
        f' height="{height}" role="img"><title>{escape(lines[0])}</title>',
        f'<rect width="{width}" height="{height}" rx="8" fill="#1a1e24"/>',
        '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13"',
        ' fill="#e7e9ec">',
    ]
    for row, line in enumerate(lines):
        color = next((shade for end, shade in COLORS.items() if line.endswith(end)), None)
        facts = ' font-weight="bold"' if row == 0 else f' fill="{color}"' if color else ""
        place = f'x="24" y="{34 + row * LINE}" textLength="{len(line) * COLUMN:.1f}"'
        parts.append(f"\n<text {place}{facts}>{escape(line).replace(' ', NO_BREAK)}</text>")
    return "".join([*parts, "\n</g></svg>\n"])


def photograph(folder: Path) -> None:
    """Run the kernels, and take the report's picture in both schemes."""
    report = folder / "report.html"
    command = [sys.executable, "-m", "pytest", *SESSION, f"--exactref-html={report}", str(KERNELS)]
    done = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, text=True, check=False)
    if not report.exists():
        raise RuntimeError(done.stdout + done.stderr)
    with browsers.started(WIDTH) as browser:
        for scheme, (opened, height) in OPENED.items():
            browsers.choose_scheme(browser, scheme)
            browser.get("about:blank")
            browser.get(report.as_uri())
            for button in browser.find_elements("css selector", ".open"):
                if (button.text == opened) != (button.get_attribute("aria-expanded") == "true"):
                    browser.execute_script("arguments[0].click()", button)
            browser.execute_script("scrollTo(0, 0); document.activeElement.blur()")
            browsers.settle(browser)
            browsers.whole_page(browser, HERE / f"report-{scheme}.png", height)


def main() -> None:
    """Make every picture anew."""
    (HERE / "failure-table.svg").write_text(drawing(failure()), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        photograph(Path(folder))


if __name__ == "__main__":
    main()
