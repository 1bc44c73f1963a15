"""How long a large report takes to open, to switch tabs, to filter and to scroll, in Chromium.

    python benchmarks/report.py                         500 files, 2,000 modules
    python benchmarks/report.py --files 50 --modules 200

Opening: from the start of the navigation until the frame after the first tab is drawn. Tabs and filters: from the key
until the frame after. Scrolling: the longest frame while a tab is scrolled from top to bottom, a screen a frame.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "report"))

TABS = ("overview", "analysis", "code", "weights", "verification", "training", "performance")
FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
SCROLL = """() => new Promise(done => {
  let last = performance.now(), longest = 0;
  const step = now => {
    longest = Math.max(longest, now - last);
    last = now;
    const before = scrollY;
    scrollBy(0, innerHeight);
    if (scrollY > before) requestAnimationFrame(step); else done(longest);
  };
  requestAnimationFrame(step);
})"""


def build(folder: Path, files: int, modules: int) -> Path:
    import made

    from mindferry import artifacts

    body = made.NET.split("class Block", 1)[1]
    code = made.NET + "".join(
        f"\n\nclass Block{body.replace('Block', f'Block{n}').replace('Net', f'Net{n}')}" for n in range(10)
    )
    output = made.convert(folder, {f"package{n % 20}/file{n}.py": code for n in range(files)})
    blocks = range(modules // 4)
    paths = [f"layers.{n}{name}" for n in blocks for name in (".conv1", ".bn1", ".relu", "")] + ["layers", ""]
    artifacts.save(made.comparison(paths, wrong=f"layers.{len(blocks) // 2}.bn1"), output, "verify")
    artifacts.save(
        made.weights(
            *(f"layers.{n}.{name}" for n in blocks for name in ("conv1.weight", "conv1.bias", "bn1.weight", "bn1.bias"))
        ),
        output,
        "weights",
    )
    artifacts.save(made.curves(2000), output, "train")
    artifacts.save(made.tune(), output, "tune")
    return output


def measure(page: Path, rounds: int) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = []
        for _ in range(rounds):
            tab = browser.new_page(viewport={"width": 1360, "height": 850})
            tab.goto(page.resolve().as_uri())
            opened.append(tab.evaluate(FRAME))
            if len(opened) < rounds:
                tab.close()
        figures: dict[str, Any] = {
            "open_ms": statistics.median(opened),
            "tabs_ms": {},
            "filter_ms": {},
            "longest_frame_ms": {},
        }
        for number, name in enumerate(TABS, 1):
            began = tab.evaluate("performance.now()")
            tab.keyboard.press(str(number))
            figures["tabs_ms"][name] = tab.evaluate(FRAME) - began
            if tab.locator(f"#{name} input").count():
                began = tab.evaluate("performance.now()")
                tab.fill(f"#{name} input", "7")
                tab.wait_for_function(
                    "name => /left$/.test(document.querySelector(`#${name} .count`).textContent)", arg=name
                )
                figures["filter_ms"][name] = tab.evaluate(FRAME) - began
                tab.fill(f"#{name} input", "")
                tab.wait_for_function("name => !document.querySelector(`#${name} .count`).textContent", arg=name)
                tab.evaluate("document.activeElement.blur()")  # the next key is for the page
            figures["longest_frame_ms"][name] = tab.evaluate(SCROLL)
        figures["heap_mb"] = tab.evaluate("performance.memory.usedJSHeapSize") / 1e6
        browser.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--modules", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    from mindferry.report import write_report

    with tempfile.TemporaryDirectory() as folder:
        output = build(Path(folder), options.files, options.modules)
        began = time.perf_counter()
        page = write_report(output)
        figures = {
            "files": options.files,
            "modules": options.modules,
            "load": os.getloadavg()[0],
            "write_s": time.perf_counter() - began,
        }
        figures |= {"page_mb": page.stat().st_size / 1e6, **measure(page, options.rounds)}
    text = json.dumps(figures, indent=1, default=float)
    print(text)
    if (options.files, options.modules) == (500, 2000):
        (ROOT / "benchmarks/results/report.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
