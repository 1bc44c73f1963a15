"""The Chinese pages show the same commands, promises and figures as the English ones, which are run and checked."""

from __future__ import annotations

import re

import pytest
from pages import ROOT, blocks

TUTORIALS = sorted((ROOT / "docs" / "zh-CN").glob("*.md"))
FIGURE = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?(?: %)?")


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_translated_tutorial_has_the_blocks_of_the_original(page):
    assert blocks(page) == blocks(ROOT / "docs" / "tutorials" / page.name)


def test_the_translated_readme_shows_the_same_code_and_measured_nothing_else():
    english, chinese = ((ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh-CN.md"))
    code = [block.text for block in blocks(ROOT / "README.zh-CN.md") if block.language == "diff"]
    assert code == [block.text for block in blocks(ROOT / "README.md") if block.language == "diff"]
    told = chinese.partition("## 实测结果")[2].partition("## 局限")[0]
    rows = [line for line in told.splitlines() if line.startswith("|")][2:]
    assert len(rows) >= 10
    for row in rows:
        command = row.rstrip(" |").rpartition("`")[0].rpartition("`")[2]
        figures = set(FIGURE.findall(row.rpartition("|")[0].rpartition("|")[0].split("|")[2]))
        same = [line for line in english.splitlines() if line.startswith("|") and f"`{command}`" in line]
        assert any(figures <= set(FIGURE.findall(line)) for line in same), (row, figures)


def test_every_file_that_the_translated_pages_link_to_is_there():
    for page in (ROOT / "README.zh-CN.md", *TUTORIALS):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
