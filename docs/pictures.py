"""Pictures of the report for the docs and the README, one a tab, from what `make demo` left.

    make demo && python docs/pictures.py
    python docs/pictures.py --keep        also renews tests/report/resnet50.zip, the measurements that the tests use

They look best with the fonts Inter and JetBrains Mono (Debian: fonts-inter, fonts-jetbrains-mono).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/pictures"
KEPT = ROOT / "tests/report/resnet50.zip"
STAGES = ("weights", "statistics", "data", "verify", "train", "tune")
LARGEST = 300_000  # bytes of a picture
SIZE = {"width": 1280, "height": 800}
# tab -> what to show there
ADDRESSES = {
    "overview": "#overview",
    "analysis": "#analysis/API satisfaction",
    "code": "#code/model.py:61",
    "weights": "#weights",
    "verification": "#verification/layer1.0",
    "training": "#training",
    "performance": "#performance",
}


def shoot(page: Any, name: str) -> None:
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path)
    if path.stat().st_size > LARGEST:
        sys.exit(f"{path} is larger than {LARGEST} bytes")
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


def keep(output: Path) -> None:
    with zipfile.ZipFile(KEPT, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for stage in STAGES:
            path = output / ".mindferry" / f"{stage}.json"
            if path.is_file():
                archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "build/resnet50_ms", help="What `make demo` wrote.")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    from mindferry.report import write_report

    report = write_report(options.output).resolve().as_uri()
    if options.keep:
        keep(options.output)
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport=SIZE, color_scheme=scheme)
            page.goto(report)
            for tab, address in ADDRESSES.items():
                if scheme == "light" or tab == "verification":
                    page.evaluate("address => { location.hash = address }", address)
                    page.wait_for_selector(f"#{tab}:visible")
                    if tab == "code":
                        page.hover("#code tr.current .add .mark >> nth=0")
                    else:
                        page.mouse.move(0, 0)
                    page.wait_for_timeout(300)
                    shoot(page, tab if scheme == "light" else f"{tab}-dark")
        browser.close()


if __name__ == "__main__":
    main()
