"""Every command in the tutorials is run, and prints what the page says."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from pages import ROOT, blocks, run_page

HOW_TO = [ROOT / "docs" / "how-to" / f"{name}.md" for name in ("terminal", "precision", "performance", "lightning")]
PAGES = [*sorted((ROOT / "docs" / "tutorials").glob("*.md")), *HOW_TO]
MINUTES = {"01-resnet50", "04-a-gan", "05-a-transformer"}
NEEDS = {"11-bert-with-its-own-head": "transformers", "12-a-timm-model": "timm"}  # that set-up does not install


@pytest.mark.parametrize(
    "page", [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem in MINUTES else []) for p in PAGES]
)
def test_a_tutorial_runs_as_it_stands(page, tmp_path):
    if page.stem in NEEDS and find_spec(NEEDS[page.stem]) is None:
        pytest.skip(f"{NEEDS[page.stem]} is not installed")
    run_page(page, tmp_path)


def test_a_promise_that_is_not_kept_fails(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\necho two words\n```\n\n```text\ntwo …\n```\n")
    run_page(page, tmp_path / "kept")
    page.write_text("```sh\necho two words\n```\n\n```text\nthree …\n```\n")
    with pytest.raises(AssertionError, match="promises"):
        run_page(page, tmp_path / "broken")


def test_a_command_that_fails_fails(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nfalse\ntrue\n```\n")
    with pytest.raises(AssertionError, match="exit code 1"):
        run_page(page, tmp_path / "run")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_has_commands(page):
    assert any(block.language == "sh" for block in blocks(page))
