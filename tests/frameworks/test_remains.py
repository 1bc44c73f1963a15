"""Workers leave nothing behind, whatever the code in them does: processes with sessions of their own, scratch folders."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from mindferry.files import is_running
from mindferry.frameworks.process import Worker, WorkerError
from mindferry.frameworks.remains import new_scratch

NASTY = """
import os, subprocess, sys, signal

def start_elsewhere(payload, link):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    grandchild = subprocess.run(
        [sys.executable, "-c", "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"],
        capture_output=True, text=True)
    return [child.pid, int(grandchild.stdout)]

def end_parent(payload, link):
    os.kill(os.getppid(), getattr(signal, payload))
    import time
    time.sleep(60)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "nasty.py").write_text(NASTY)
    return tmp_path


def is_gone(number: int) -> bool:
    for _ in range(100):
        try:
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_processes_with_sessions_of_their_own_end_with_their_worker(project):
    with Worker("torch", project) as worker:
        numbers = worker.call("nasty:start_elsewhere")
        assert all(map(is_running, numbers))
    assert all(map(is_gone, numbers))


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_code_that_ends_its_parent_is_a_sentence(how, project):
    with Worker("torch", project) as worker, pytest.raises(WorkerError) as caught:
        worker.call("nasty:end_parent", how)
    assert caught.value.kind == "crash" and how in str(caught.value)


def test_scratch_folders_of_killed_runs_go_with_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f"mindferry-{dead.pid}-abcd1234" / "cwd").mkdir(parents=True)
    (tmp_path / "mindferry-notes").mkdir()
    running = tmp_path / f"mindferry-{os.getpid()}-abcd1234"
    running.mkdir()
    scratch = new_scratch()
    assert set(tmp_path.iterdir()) == {scratch, running, tmp_path / "mindferry-notes"}
