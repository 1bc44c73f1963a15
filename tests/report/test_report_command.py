"""`mindferry report` as a command: exit codes, and one sentence for what is wrong."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import made

from mindferry import artifacts
from mindferry.report import watch_report


def run(
    *arguments: str | Path, before: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mindferry", "report", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=before, env={**os.environ, **environment})


def refused(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 2, result
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("mindferry: "), result.stderr
    return lines[0]


def test_a_clean_conversion_exits_with_0_and_a_page(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    result = run(output)
    verdict = "Converted without a finding; not measured yet."
    assert (result.returncode, result.stdout) == (0, f"{verdict}\nreport: {output}/mindferry-report.html\n")
    assert (output / "mindferry-report.html").read_text().startswith("<!doctype html>")


def test_something_left_to_do_exits_with_1_in_every_form(tmp_path: Path) -> None:
    output = made.failing(tmp_path)
    assert run(output).returncode == 1
    shown = run(output, "--json")
    assert shown.returncode == 1 and json.loads(shown.stdout)["kind"] == "Report"
    written = run(output, "--format", "markdown", "-o", tmp_path / "pr.md")
    assert (written.returncode, written.stdout) == (1, "")
    assert (tmp_path / "pr.md").read_text().startswith("# project")


def test_a_folder_without_artifacts(tmp_path: Path) -> None:
    assert "nothing to report on; run `mindferry migrate" in refused(run(tmp_path))
    assert "nothing to report on" in refused(run(tmp_path / "absent"))
    (tmp_path / ".mindferry").mkdir()
    assert "holds no artifact" in refused(run(tmp_path))


def test_an_older_artifact(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    path = output / ".mindferry/analyze.json"
    path.write_text(path.read_text().replace('"mindferry": 1', '"mindferry": 0', 1))
    assert (
        f"analyze.json was not written by this version of mindferry; run `mindferry migrate PROJECT -o {output}` again"
        in refused(run(output))
    )


def test_a_torn_artifact(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    path = output / ".mindferry/convert.json"
    path.write_text(path.read_text()[:200])
    assert "cannot read" in refused(run(output))
    path.write_text('{"mindferry": 1, "kind": "ProjectConversion", "source": "x"}')
    assert "is incomplete" in refused(run(output))


def test_artifacts_of_two_projects(tmp_path: Path) -> None:
    one = made.convert(tmp_path / "one", {"net.py": made.NET})
    other = made.convert(tmp_path / "other", {"model.py": made.NET})
    (one / ".mindferry/analyze.json").write_bytes((other / ".mindferry/analyze.json").read_bytes())
    said = refused(run(one))
    assert "artifacts of two projects" in said and str(tmp_path / "other/project") in said


def test_weights_and_network_of_two_projects(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    artifacts.save(made.comparison(made.PATHS), output, "verify")
    artifacts.save(made.weights("encoder.layer.weight"), output, "weights")
    assert "have no parameter in common" in refused(run(output))


def test_a_full_disk_leaves_the_old_report_whole(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    page = output / "mindferry-report.html"
    page.write_text("the old one")
    full = refused(run(output, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))))
    assert f"cannot write {page}: File too large; choose another place with -o" in full
    assert page.read_text() == "the old one"
    assert sorted(each.name for each in output.iterdir()) == [".mindferry", "mindferry-report.html", "net.py"]


def test_standard_output_that_is_full(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "mindferry", "report", str(output), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert result.returncode == 2
    assert result.stderr.startswith("mindferry: cannot write to standard output: No space left on device")
    assert "Traceback" not in result.stderr


def test_a_browser_that_is_not_there(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    said = refused(run(output, "--open", BROWSER=str(tmp_path / "no-browser"), PATH="", DISPLAY=""))
    assert "no browser was found" in said and "$BROWSER" in said
    assert (output / "mindferry-report.html").is_file()


def test_a_browser_that_is_there_gets_the_page(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    assert run(output, "--open", BROWSER=f"{browser} %s").returncode == 0
    assert (tmp_path / "opened").read_text().strip() == (output / "mindferry-report.html").as_uri()


def test_open_and_watch_are_for_the_page_alone(tmp_path: Path) -> None:
    result = run(tmp_path, "--format", "markdown", "--watch")
    assert result.returncode == 2 and "HTML page" in result.stderr


def test_watching_a_place_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no" in refused(run(tmp_path / "no/such/folder", "--watch"))


def test_watching_waits_for_the_conversion_and_survives_a_torn_artifact(tmp_path: Path) -> None:
    output, page, said, over = tmp_path / "project_ms", tmp_path / "page.html", [], threading.Event()
    watcher = threading.Thread(target=watch_report, args=(output, page, said.append, over.is_set))
    watcher.start()
    try:
        made.convert(tmp_path, {"net.py": made.NET})
        wait(lambda: page.is_file())
        (output / ".mindferry/verify.json").write_text("{")
        wait(lambda: any("cannot read" in line for line in said))
        artifacts.save(made.comparison(made.PATHS), output, "verify")
        wait(lambda: any("behaves like" in line for line in said))
    finally:
        over.set()
        watcher.join()
    assert '"watch":null' in page.read_text()


def wait(is_done: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_done():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)
