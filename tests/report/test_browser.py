"""The page as people see it: in Chromium, opened from disk."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import made
import pytest

from mindferry import artifacts
from mindferry.report import write_report

TABS = ("overview", "analysis", "code", "weights", "verification", "training", "performance")
Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def resnet50(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(made.resnet50(tmp_path_factory.mktemp("resnet50")))


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(made.failing(tmp_path_factory.mktemp("failing")))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(made.empty(tmp_path_factory.mktemp("empty")))


def wait_for_tab(page: Any, tab: str) -> None:
    page.wait_for_function(
        "tab => document.querySelector('[role=tab][aria-selected=true]').getAttribute('aria-controls') === tab", arg=tab
    )


def open_tab(page: Any, tab: str) -> None:
    page.click(f"#tab-{tab}")
    wait_for_tab(page, tab)


def go(page: Any, address: str) -> None:
    """Returns when the page has followed the address: its own listener was there first."""
    page.evaluate(
        """address => new Promise(followed => {
            if (new URL(address, location).hash === location.hash) return followed();
            addEventListener("hashchange", () => followed(), { once: true });
            location.hash = address;
        })""",
        address,
    )


@pytest.mark.parametrize("project", ["resnet50", "failing", "empty"])
def test_every_tab_opens_by_click_and_by_number(project: str, visit: Visit, request: pytest.FixtureRequest) -> None:
    page = visit(request.getfixturevalue(project))
    for number, tab in enumerate(TABS, 1):
        open_tab(page, tab)
        assert page.locator("[role=tabpanel]:visible").count() == 1
        assert len(page.inner_text(f"#{tab}").strip()) > 10
        page.keyboard.press("1")
        page.keyboard.press(str(number))
        wait_for_tab(page, tab)


@pytest.mark.parametrize("project", ["resnet50", "failing"])
def test_every_link_leads_where_it_says(project: str, visit: Visit, request: pytest.FixtureRequest) -> None:
    page = visit(request.getfixturevalue(project))
    for tab in TABS:
        open_tab(page, tab)
    named = page.eval_on_selector_all(
        "a[href^='#']", "nodes => nodes.map(node => [node.getAttribute('href'), node.textContent])"
    )
    links = {link for link, _ in named}
    assert any(":" in link for link in links) and len(links) > 15
    for link, text in named:
        if re.fullmatch(r"\S+\.py:\d+", text):
            assert unquote(link).replace("+", "") == f"#code/{text}"
    for link in sorted(links):
        go(page, link)
        tab, _, argument = link[1:].partition("/")
        wait_for_tab(page, tab)
        name, _, line = unquote(argument).partition(":")
        if tab == "code" and argument:
            assert page.inner_text("#code .filehead h2") == name
        if tab == "code" and line:
            column = 3 if line.startswith("+") else 1
            assert page.inner_text(f"#code tr.current td:nth-child({column})") == line.strip("+")
            assert page.locator("#code tr.current").is_visible()
        if tab == "verification" and argument:
            assert page.locator("#verification tr.current").count() == 1


def test_the_overview_says_same_and_nothing_left(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50)
    assert page.inner_text("h1") == "The conversion behaves like the original."
    assert "200 of 200 predictions are equal" in page.inner_text(".detail")
    assert page.inner_text(".nothing") == "Nothing."


def test_the_overview_lists_what_is_left_in_order(failing: Path, visit: Visit) -> None:
    page = visit(failing)
    assert "does not behave like the original" in page.inner_text("h1")
    places = page.locator(".todo td.at").all_inner_texts()
    assert places == ["unreadable.py:2", "spy.py:9", "spy.py:10", "spy.py:12", "weights", "net.py:6", "train"]
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    wait_for_tab(page, "code")
    page.wait_for_selector("#code tr.current")
    assert page.inner_text("#code .filehead h2") == "spy.py"
    assert page.inner_text("#code tr.current td") == "9"
    assert "MF101" in page.inner_text("#code tr.current + tr.note")


FILTERS = {"analysis": "conv2d", "code": "model", "weights": "layer1.0 gamma", "verification": "layer1.0.bn"}


@pytest.mark.parametrize("tab", FILTERS)
def test_filters_narrow_and_clear(tab: str, resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50, f"#{tab}")
    rows = f"#{tab} .side li:visible" if tab == "code" else f"#{tab} tbody tr:visible:not(:has(.none))"
    before = page.locator(rows).count()
    page.keyboard.press("/")
    page.keyboard.insert_text(
        FILTERS[tab]
    )  # at one stroke: a slow machine would show what is left after the first letters
    page.wait_for_function("tab => /left$/.test(document.querySelector(`#${tab} .count`).textContent)", arg=tab)
    left = page.locator(rows)
    assert 0 < left.count() < before
    for text in left.all_inner_texts() if tab != "verification" else []:
        assert all(word in text.lower() for word in FILTERS[tab].split())
    page.keyboard.press("Escape")
    page.wait_for_function("tab => !document.querySelector(`#${tab} .count`).textContent", arg=tab)
    page.locator(rows).nth(
        before - 1
    ).wait_for()  # all that was there, or more: a long table draws the rest of itself as it gets near


def test_a_filter_that_nothing_matches_says_so(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50, "#weights")
    page.fill("#weights input", "no such parameter")
    page.wait_for_selector("text=nothing matches")


def test_code_stands_side_by_side_and_tells_its_rule(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50, "#code/model.py:9")
    cells = page.locator("#code tr.current td").all_inner_texts()
    assert "nn.Conv2d(in_planes, out_planes, kernel_size=3, stride=stride, padding=1, bias=False)" in cells[1]
    assert "has_bias=False, pad_mode='pad')" in cells[3]
    page.hover("#code tr.current .del .mark >> nth=0")
    card = page.inner_text("#card")
    assert "torch.nn.Conv2d" in card and "mindspore.nn.Conv2d" in card and "pad_mode" in card


def test_j_and_k_walk_over_all_changes_and_on_to_the_next_file(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50, "#code/data.py")
    page.keyboard.press("j")
    assert page.inner_text("#code tr.current td") == "7"
    assert "import mindspore.dataset as ds" in page.inner_text("#code tr.current")
    seen = []
    for _ in range(14):
        page.keyboard.press("j")
        seen.append(page.inner_text("#code .filehead h2"))
    assert seen[0] == "data.py" and seen[-1] == "model.py"
    for _ in range(14):
        page.keyboard.press("k")
    assert page.inner_text("#code .filehead h2") == "data.py"
    page.keyboard.press("]")
    page.wait_for_function("document.querySelector('#code .filehead h2').textContent === 'model.py'")


def test_folded_lines_open_alone_and_all_at_once(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50, "#code/data.py")
    folds = page.locator("#code .fold")
    before, lines = folds.count(), page.locator("#code tbody tr").count()
    assert before > 0
    page.click("#code .fold button >> nth=0")
    assert folds.count() == before - 1
    page.keyboard.press("w")
    assert folds.count() == 0 and page.locator("#code tbody tr").count() > lines
    numbers = [text for text in page.locator("#code tbody .ln:first-child").all_inner_texts() if text]
    assert numbers == [str(number) for number in range(1, 92)]


def test_findings_without_a_line_stand_above_the_code(tmp_path: Path, visit: Visit) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET, "old.py": "import torch\nx = torch.fx.symbolic_trace(1)\n"})
    (tmp_path / "project/old.py").unlink()
    page = visit(write_report(output), "#code/old.py")
    assert "no longer at" in page.inner_text("#code .summary")
    assert "torch.fx.symbolic_trace" in page.inner_text("#code .unplaced")
    assert "x = torch.fx" in page.inner_text("#code .diff")


def test_the_heat_map_marks_the_first_divergence(failing: Path, visit: Visit) -> None:
    page = visit(failing, "#verification")
    assert page.inner_text("#verification .divergence a") == "body.0.bn1"
    assert page.locator("#verification tr.culprit").count() == 1
    assert page.locator("#verification tr.culprit .cell.over.own").count() >= 2
    assert page.inner_text("#verification .panel h3") == "body.0.bn1"
    assert page.locator("#verification .strip svg .own").count() == 1
    assert page.locator("#verification .strip svg .over").count() == 10  # it and the nine that run after it
    page.select_option("#verification select", "worst")
    assert "body.0.bn1" in page.inner_text("#verification tbody tr >> nth=0")
    page.select_option("#verification select", "failed")
    assert page.locator("#verification .rows tbody tr").count() == 10


@pytest.mark.parametrize("is_verified", [True, False])
def test_pipelines_and_exported_files_stand_under_the_modules(is_verified: bool, tmp_path: Path, visit: Visit) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    artifacts.save(made.pipelines(wrong=True), output, "data")
    artifacts.save(made.export(), output, "export")
    if is_verified:
        artifacts.save(made.comparison(made.PATHS), output, "verify")
    page = visit(write_report(output))
    assert page.get_attribute("#tab-verification", "title") == "needs you"
    page.click("#overview .todo a:text-is('data')")
    wait_for_tab(page, "verification")
    text = page.inner_text("#verification")
    assert "data:test_loader <b>" in text and "epoch 1, batch 3, image: values: largest difference 0.5" in text
    assert "export/net.mindir" in text and "no exporter for Erf" in text
    assert ("mindferry verify" in text) is not is_verified


def test_text_in_charts_keeps_its_size_in_a_narrow_window(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50, "#training")
    size = "() => document.querySelector('#training svg text').getBoundingClientRect().height"
    page.wait_for_function("() => document.querySelector('#training svg').clientWidth > 1000")
    wide = page.evaluate(size)
    page.set_viewport_size({"width": 500, "height": 800})
    page.wait_for_function("() => document.querySelector('#training svg').viewBox.baseVal.width < 500")
    assert page.evaluate(size) == pytest.approx(wide, rel=0.1)


def test_a_module_shows_its_values(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50, "#verification")
    page.click("#verification th.module:has-text('maxpool')")
    panel = page.inner_text("#verification .panel")
    assert "maxpool" in panel and "output" in panel and "4×64×56×56" in panel
    page.click("#verification .explain summary")
    assert "5.0e-6" in page.inner_text("#verification .explain")


def test_training_draws_both_curves(failing: Path, visit: Visit) -> None:
    page = visit(failing, "#training")
    assert page.locator("#training svg").count() == 4
    assert "parts here" in page.locator("#training svg >> nth=0").inner_html()
    page.hover("#training svg >> nth=0")
    assert re.match(r"step \d+", page.inner_text("#training figcaption output >> nth=0"))


def test_performance_shows_what_was_tuned_and_asks_for_it_otherwise(
    failing: Path, resnet50: Path, tmp_path: Path, visit: Visit
) -> None:
    text = visit(failing, "#performance").inner_text("#performance")
    assert "1.6 times as fast" in text and "GeneratorDataset" in text and "The loader is slow" in text
    assert "Conv2DBackpropInput" in visit(resnet50, "#performance").inner_text("#performance")
    untouched = write_report(made.convert(tmp_path, {"net.py": made.NET}))
    assert "mindferry tune" in visit(untouched, "#performance").inner_text("#performance")


def test_light_and_dark(resnet50: Path, visit: Visit) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    page = visit(resnet50, color_scheme="dark")
    dark = page.evaluate(background)
    page.keyboard.press("t")
    light = page.evaluate(background)
    assert dark != light
    page.keyboard.press("t")
    assert page.evaluate(background) == dark
    assert visit(resnet50, color_scheme="light").evaluate(background) == light


def test_keys_and_roles(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50)
    page.focus("#tab-overview")
    page.keyboard.press("ArrowRight")
    wait_for_tab(page, "analysis")
    assert page.evaluate("document.activeElement.id") == "tab-analysis"
    page.keyboard.press("End")
    wait_for_tab(page, "performance")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert page.get_by_role("tablist").count() == 1 and page.get_by_role("tab").count() == 7
    assert page.get_by_role("tabpanel").get_attribute("aria-labelledby") == "tab-performance"


def test_paper_holds_every_tab(failing: Path, visit: Visit) -> None:
    page = visit(failing, color_scheme="dark")
    assert len(page.pdf(format="A4")) > 30_000
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("[role=tabpanel]:visible").count() == 7
    assert page.locator(".paper table.diff:visible").count() == 3
    assert page.locator("[role=tablist]").is_hidden()


HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"


def test_text_of_the_project_is_never_markup(tmp_path: Path, visit: Visit) -> None:
    names = ("<img src=x onerror=alert(1)>.py", "it's \"quoted\" & 'odd'.py", "<!--<script>.py")
    code = f"# {HOSTILE} <!-- \u2028 `\nimport torch\n\nclass Net(torch.nn.Module):\n    '''{HOSTILE.replace(chr(39), '')}'''\n    x = torch.fx.symbolic_trace(1)\n"
    output = made.convert(tmp_path, dict.fromkeys(names, code))
    row = made.comparison((HOSTILE, f"{HOSTILE}.bn1"), wrong=HOSTILE)
    artifacts.save(row, output, "verify")
    artifacts.save(made.weights(f"{HOSTILE}.bn1.weight", missing=(HOSTILE,)), output, "weights")
    page = visit(write_report(output))
    shown = ""
    for tab in TABS:
        open_tab(page, tab)
        shown += page.inner_text(f"#{tab}")
    for name in names:
        assert name in shown
        go(page, f"#code/{quote(name + ':4')}")
        page.wait_for_function("name => document.querySelector('#code .filehead h2').textContent === name", arg=name)
        assert HOSTILE in page.inner_text("#code .diff")
        assert page.inner_text("#code tr.current td") == "4"
    go(page, f"#verification/{quote(HOSTILE)}")
    page.wait_for_function(
        "name => document.querySelector('#verification .panel h3').textContent === name", arg=HOSTILE
    )
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert HOSTILE in shown
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0


def test_a_watched_page_follows_the_stages(tmp_path: Path, visit: Visit) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    watcher = subprocess.Popen(
        [sys.executable, "-m", "mindferry", "report", str(output), "--watch"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert watcher.stdout is not None
        assert "not measured yet" in watcher.stdout.readline()
        page = visit(output / "mindferry-report.html", "#training")
        assert "not been compared" in page.inner_text("#training")
        time.sleep(0.1)
        artifacts.save(made.curves(5), output, "train")
        page.wait_for_selector("#training svg")
        assert "Same as far as compared" in watcher.stdout.readline()
        page.close()  # it would ask for the number that the watcher takes away
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(timeout=60) == 0
    finally:
        watcher.kill()
    text = (output / "mindferry-report.html").read_text()
    assert '"watch":null' in text and "svg" in text
    assert not (output / ".mindferry/report-watch.js").exists()


def test_long_tables_show_their_last_row_and_come_back(resnet50: Path, visit: Visit) -> None:
    page = visit(resnet50, "#weights")
    first, last = "#weights td:text-is('conv1.weight')", "#weights td:text-is('fc.bias')"
    for _ in range(300):
        page.mouse.wheel(0, 2000)
        page.wait_for_timeout(30)
        if page.locator(last).count():
            break
    assert page.locator(last).count()
    page.wait_for_selector(first, state="detached")  # far away rows are not kept
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_selector(first)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#weights tbody tr[aria-rowindex]").count() == 267
