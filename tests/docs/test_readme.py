"""The README: its two commands exist, the commands that it names are there, every file that it links to too."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pages import ROOT, blocks

README = (ROOT / "README.md").read_text("utf-8")
SYNOPSIS = next(block.text for block in blocks(ROOT / "README.md") if "mindferry migrate" in block.text)
NAMED = sorted(set(re.findall(r"^mindferry (\w+)", SYNOPSIS, re.MULTILINE)))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?:`|^)make (\w+)", README, re.MULTILINE))))
def test_every_make_target_is_in_the_makefile(target):
    assert subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True).returncode == 0


def test_the_synopsis_names_every_command_and_no_other():
    from mindferry.cli import cli

    assert sorted(cli.list_commands(None)) == NAMED


@pytest.mark.parametrize("name", NAMED)
def test_every_command_shows_its_help_with_an_example(name):
    shown = subprocess.run([sys.executable, "-m", "mindferry", name, "--help"], capture_output=True, text=True)
    assert shown.returncode == 0 and f"mindferry {name}" in shown.stdout.partition("\n")[2]


def test_every_link_of_the_readme_leads_somewhere():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 10 and [link for link in links if not (ROOT / link).exists()] == []


def test_every_script_that_measures_is_there():
    scripts = set(re.findall(r"`python ((?:benchmarks|tests)/[\w/]+\.py)", README))
    assert len(scripts) > 5 and [script for script in scripts if not (ROOT / script).is_file()] == []
