"""The HTML report in a browser: loads silently, works from the keyboard, can be read, is quick."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_exactref.records import CheckRecord
from tests.plugin import browser as browsers
from tests.plugin.html_pages import HOSTILE, html, many_checks, nothing, record, some_checks
from tests.plugin.page_scripts import CONTRASTS, LOADED, TIMED

DASH = "\N{EN DASH}"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browsers.started() as opened:
        yield opened


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Any:
    """The page of some checks, opened afresh."""
    browsers.choose_scheme(chromium, "light")
    return show(chromium, tmp_path, html(some_checks()))


def show(chromium: Any, folder: Path, page: str) -> Any:
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    chromium.get("about:blank")
    for kind in ("browser", "performance"):
        chromium.get_log(kind)  # forget what came before
    chromium.get(path.as_uri())
    return chromium


def press(chromium: Any, *keys: str) -> None:
    chromium.switch_to.active_element.send_keys(*keys)


def shown(chromium: Any) -> list[str]:
    """The tests in the table that the filter leaves, in order."""
    return list(
        chromium.execute_script(
            "return [...document.querySelectorAll('.check:not([hidden]) .open')]"
            ".map((each) => each.textContent)"
        )
    )


def focused(chromium: Any, script: str) -> Any:
    return chromium.execute_script(f"const it = document.activeElement; return {script}")


def tab_to(chromium: Any, selector: str) -> None:
    """Press Tab until an element is focused; whatever is passed shows that it has the focus."""
    from selenium.webdriver.common.keys import Keys

    for _ in range(60):
        press(chromium, Keys.TAB)
        outline = focused(
            chromium, "[it.matches(':focus-visible'), getComputedStyle(it).outlineWidth]"
        )
        assert outline == [True, "3px"], focused(chromium, "it.outerHTML")
        if focused(chromium, f"it.matches({json.dumps(selector)})"):
            return
    raise AssertionError(f"{selector} cannot be reached with Tab")


def test_it_loads_silently_and_requests_nothing_but_itself(opened: Any) -> None:
    assert opened.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    requests = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert requests[0].endswith("/report.html")
    assert [url for url in requests[1:] if not url.startswith("data:")] == []


def test_hostile_names_are_shown_and_do_nothing(opened: Any) -> None:
    assert opened.title == "exactref: 2 of 4 checks fail, 1 of them as expected"
    assert f"test_x[{HOSTILE}]" in shown(opened)
    for button in opened.find_elements("css selector", ".open[aria-expanded=false]"):
        button.click()
    titles = [each.text for each in opened.find_elements("css selector", ".detail h3")]
    assert any(HOSTILE in title for title in titles)
    assert opened.find_elements("css selector", "img") == []
    assert opened.title.startswith("exactref: ")
    assert opened.get_log("browser") == []


def test_filter_with_the_keyboard(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    tab_to(opened, "#words")
    press(opened, "MATMUL second")
    assert shown(opened) == ["test_heads"]
    assert opened.find_element("id", "shown").text == "1 of 4 checks"
    press(opened, " nowhere")
    assert shown(opened) == []
    assert opened.find_element("id", "nothing").is_displayed()
    press(opened, Keys.CONTROL, "a")
    press(opened, Keys.DELETE)
    tab_to(opened, "input[value=wrong]")
    press(opened, Keys.SPACE)
    assert len(shown(opened)) == 3
    tab_to(opened, "input[value=normal]")
    press(opened, Keys.SPACE)
    assert shown(opened) == ["test_row"]
    assert opened.find_element("id", "shown").text == "1 of 4 checks"


def test_sort_with_the_keyboard(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    assert shown(opened)[:2] == ["test_heads", "test_row"]
    tab_to(opened, "th:nth-child(2) .sort")
    press(opened, Keys.ENTER)
    assert focused(opened, "it.parentElement.ariaSort") == "ascending"
    up = shown(opened)
    assert [name.partition("[")[0] for name in up] == [
        "test_heads",
        "test_right",
        "test_row",
        "test_x",
    ]
    press(opened, Keys.ENTER)
    assert focused(opened, "it.parentElement.ariaSort") == "descending"
    assert shown(opened) == up[::-1]
    tab_to(opened, "th:nth-child(9) .sort")
    press(opened, Keys.SPACE)
    assert len(opened.find_elements("css selector", "[aria-sort]")) == 1
    assert shown(opened)[0] == "test_heads"  # the largest error/tolerance


def test_open_a_failing_check_and_read_its_pictures(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    assert focused(opened, "it.tagName") == "BODY"
    tab_to(opened, ".open")
    assert focused(opened, "it.textContent") == "test_heads"
    assert focused(opened, "it.ariaExpanded") == "true"  # the first that fails stands open
    press(opened, Keys.ENTER)
    assert opened.find_elements("css selector", ".detail:not([hidden] *)") == []
    press(opened, Keys.ENTER)
    assert (
        focused(opened, "document.getElementById(it.getAttribute('aria-controls')).hidden") is False
    )
    areas = opened.execute_script(
        "return [...document.querySelectorAll('.map')].map((map) =>"
        " (map.querySelector('path.wrong')?.getAttribute('d').match(/M/g) ?? []).length)"
    )
    # The second of three slices: 40 rows of the last 4 of 70 columns, in cells of 1 x 2, and 8 rows
    # of 8 cells.
    assert areas == [0, 40 * 2 + 8 * 8, 0]
    boxes = opened.find_elements("css selector", ".map, .histogram")
    assert all(box.size["width"] > 100 and box.size["height"] > 60 for box in boxes)
    assert len(opened.find_elements("css selector", ".histogram rect.wrong")) > 2
    bars = opened.execute_script(
        "return [...document.querySelectorAll('.histogram rect')].map((bar) =>"
        " [bar.classList[0], bar.textContent, bar.getBBox().x, bar.getBBox().height])"
    )
    limit = opened.execute_script("return document.querySelector('.histogram .limit').getBBox().x")
    assert all(height > 0 for *_, height in bars)
    assert all(left >= limit for kind, _, left, _ in bars if kind == "wrong")
    rows = opened.find_elements("css selector", ".detail .wide tbody tr")
    assert len(rows) == 10


def test_the_arrow_keys_read_out_the_cells(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    tab_to(opened, ".map")
    tab_to(opened, ".map")  # the second slice begins at its first wrong cell

    def read_out() -> str:
        return str(opened.find_elements("css selector", ".readout")[1].text).replace(DASH, "-")

    assert read_out() == "[1, 0, 66-67] wrong"
    press(opened, Keys.LEFT)
    assert read_out() == "[1, 0, 64-65] normal"
    press(opened, Keys.DOWN, Keys.HOME)
    assert read_out() == "[1, 1, 0-1] normal"
    press(opened, Keys.UP, Keys.UP, Keys.END)
    assert read_out() == "[1, 0, 68-69] wrong"
    assert opened.find_elements("css selector", ".map:focus .cursor")[0].is_displayed()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(opened: Any, scheme: str) -> None:
    browsers.choose_scheme(opened, scheme)
    for each in opened.find_elements("css selector", ".open[aria-expanded=false], summary"):
        each.click()
    ground = opened.execute_script(
        "return getComputedStyle(document.documentElement).backgroundColor"
    )
    assert ground == {"light": "rgb(251, 250, 247)", "dark": "rgb(20, 23, 27)"}[scheme]
    found = opened.execute_script(CONTRASTS)
    assert len(found) > 300
    assert [each for each in found if each[1] < 4.5] == []


def test_a_check_without_elements_or_pictures_opens_too(chromium: Any, tmp_path: Path) -> None:
    bare = CheckRecord("t.py::test_bare", "sum", "output", "float32", "normal", wrong=1)
    show(chromium, tmp_path, html([record(nothing(), "t.py::test_empty"), bare]))
    for each in chromium.find_elements("css selector", ".open"):
        each.click()
    texts = [each.text for each in chromium.find_elements("css selector", ".detail")]
    assert len(texts) == 2
    assert all("pytest t.py::" in text for text in texts)
    assert sum("The tensor has no elements." in text for text in texts) == 1
    assert chromium.get_log("browser") == []


def test_an_address_opens_its_check(opened: Any) -> None:
    opened.execute_script("location.hash = 'check-3'")
    browsers.settle(opened)
    assert focused(opened, "it.closest('tbody').id") == "check-3"
    assert focused(opened, "it.ariaExpanded") == "true"


def test_the_page_fits_a_narrow_window(opened: Any) -> None:
    size = opened.get_window_size()
    opened.set_window_size(500, 900)
    try:
        for each in opened.find_elements("css selector", ".open[aria-expanded=false]"):
            opened.execute_script("arguments[0].click()", each)
        wide = opened.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1]
    finally:
        opened.set_window_size(size["width"], size["height"])


def test_no_cell_runs_into_the_next(opened: Any) -> None:
    too_wide = opened.execute_script(
        "return [...document.querySelectorAll('.check > tr:first-child > *, thead th')]"
        ".filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"
    )
    assert too_wide == []


def test_landmarks_and_names(opened: Any) -> None:
    count = opened.execute_script(
        "return ['header', 'main', 'footer', '[role=search]', 'h1', 'html[lang]']"
        ".map((each) => document.querySelectorAll(each).length)"
    )
    assert count == [1] * 6
    nameless = opened.execute_script(
        "return [...document.querySelectorAll('button, input, svg[role], [role=region]')]"
        ".filter((it) => !(it.textContent.trim() || it.ariaLabel || it.labels?.length))"
        ".map((it) => it.outerHTML)"
    )
    assert nameless == []
    twice = opened.execute_script(
        "const ids = [...document.querySelectorAll('[id]')].map((it) => it.id);"
        "return ids.filter((id, place) => ids.indexOf(id) !== place)"
    )
    assert twice == []


def test_a_thousand_checks_do_not_lag(chromium: Any, tmp_path: Path) -> None:
    # The least of several times: noise of the machine only adds.
    page, loads, times = html(many_checks(1000)), [], {}
    typed = "words.value = {!r}; words.dispatchEvent(new Event('input', {{ bubbles: true }}))"
    actions = {
        "filter": typed.format("kernel[99"),
        "all again": typed.format(""),
        "sort": "document.querySelector('th:nth-child(2) .sort').click()",
        "open": "document.querySelector('.open[aria-expanded=false]').click()",
    }
    for _ in range(3):
        show(chromium, tmp_path, page)
        loads.append(chromium.execute_script(LOADED))
        assert len(shown(chromium)) == 1000
        for name, script in actions.items():
            took = chromium.execute_script(TIMED % script)
            times[name] = min(took, times.get(name, took))
            assert name != "filter" or len(shown(chromium)) == 11
    print(f"load {min(loads):.0f} ms,", {name: round(took) for name, took in times.items()})
    assert min(loads) < 1500
    assert {name: took for name, took in times.items() if took > 100} == {}
