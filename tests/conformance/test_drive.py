"""The conformance driver: crashes and hangs are results, and a run takes up where the last one stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance.page import write_page

from conformance import drive

ENTRIES = """
import os, time

def names(payload, link):
    return ["good", "mixed", "dies", "sleeps"]

def check_all(payload, link):
    for index in range(3):
        if index < payload["start"]:
            continue
        link.report({"index": index, "source": f"case {index}", "reason": "running"})
        if payload["name"] == "dies" and index == 1:
            os.abort()
        if payload["name"] == "sleeps" and index == 1:
            time.sleep(60)
        wrong = payload["name"] == "mixed" and index == 2
        link.report({"index": index, "source": f"case {index}", "reason": "output 0 differs by 1" if wrong else ""})
    return {}
"""


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> drive.Driver:
    (tmp_path / "conformance_entries.py").write_text(ENTRIES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(drive, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(drive, "LIMIT", 15.0)
    return drive.Driver(drive.Group("entries", "entries", "conformance_entries"))


def test_a_crash_and_a_hang_cost_one_sample_each_and_the_rest_runs_on(driver: drive.Driver) -> None:
    driver.run(driver.names())
    found = {name: (result.right, result.total, result.index) for name, result in driver.results.items()}
    assert found == {"good": (3, 3, -1), "mixed": (2, 3, 2), "dies": (2, 3, 1), "sleeps": (2, 3, 1)}
    assert driver.results["dies"].reason.startswith("crash: SIGABRT")
    assert driver.results["sleeps"].reason.startswith("hang:")
    assert "1 of 4 entries right" in drive.summary(driver)


def test_what_was_found_is_read_back_and_written_as_a_page(driver: drive.Driver, tmp_path: Path) -> None:
    driver.run(["good", "mixed"])
    again = drive.Driver(driver.group)
    again.load()
    assert again.results == driver.results
    assert drive._chosen(["good", "mixed", "dies"], again, None, failed=True) == ["mixed", "dies"]
    write_page([again], tmp_path)
    page = (tmp_path / "conformance.md").read_text()
    assert "| mixed | 2/3 | `case 2` | output 0 differs by 1 |" in page and "Right: good." in page


def test_rows_that_were_not_run_again_stay_on_the_page_and_say_what_they_are_from(
    driver: drive.Driver, tmp_path: Path
) -> None:
    old = {name: drive.Result(name, 3, 3, run="an old day") for name in ("good", "mixed", "gone")}
    write_page([drive.Driver(driver.group, results=old)], tmp_path)
    driver.run(["mixed"])
    driver.keep(tmp_path / "conformance.json")
    assert {name: (each.right, each.run == "an old day") for name, each in driver.results.items()} == {
        "mixed": (2, False),
        "good": (3, True),
    }
    write_page([driver], tmp_path)
    assert "an old day (1)" in (tmp_path / "conformance.md").read_text()
