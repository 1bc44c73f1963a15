"""The worker processes: what a function may do, and what its death looks like from outside."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from mindferry.errors import MindferryError
from mindferry.frameworks.mirror import link_entries
from mindferry.frameworks.process import Worker, WorkerError

FUNCTIONS = """
import ctypes, os, sys, time
from mindferry.errors import MindferryError

def double(payload, link):
    print("noise on stdout"); os.write(1, b"more noise"); sys.stdout.flush()
    for i in range(3):
        link.report({"step": i})
    link.state["calls"] = link.state.get("calls", 0) + 1
    return {"twice": payload * 2, "calls": link.state["calls"]}

def read_relative(payload, link):
    open("litter.txt", "w").write("x")
    return open("data.txt").read()

def raise_plainly(payload, link):
    link.doing("layer1.conv")
    raise ValueError("kernel size is 0\\n\\n----\\nC++ stack")

def refuse(payload, link):
    raise MindferryError("no such factory; name one with --model")

def segfault(payload, link):
    link.doing("layer2.pool (MaxPool2d)")
    ctypes.string_at(0)

def hang(payload, link):
    link.doing("layer3.lstm")
    time.sleep(1000)

def child(payload, link):
    import subprocess
    return subprocess.Popen(["sleep", "1000"]).pid

def fork_then_die(payload, link):
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(7)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "functions.py").write_text(FUNCTIONS)
    (folder / "data.txt").write_text("forty-two")
    return folder


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


def ends(pid: int) -> bool:
    """Whether the process is gone, after a while."""
    deadline = time.monotonic() + 60
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def test_a_function_gets_its_payload_streams_messages_and_keeps_state(project: Path) -> None:
    messages: list[object] = []
    with Worker("torch", project) as worker:
        assert worker.call("functions:double", 21, messages.append) == {"twice": 42, "calls": 1}
        assert worker.call("functions:double", "ab") == {"twice": "abab", "calls": 2}
    assert messages == [{"step": 0}, {"step": 1}, {"step": 2}]


def test_relative_paths_reach_the_project_and_litter_does_not(project: Path) -> None:
    with Worker("torch", project) as worker:
        assert worker.call("functions:read_relative") == "forty-two"
        scratch = worker.scratch
    assert sorted(p.name for p in project.iterdir()) == ["data.txt", "functions.py"]
    assert not scratch.exists()


def test_an_exception_becomes_one_sentence_with_the_module_and_the_line(project: Path) -> None:
    with Worker("torch", project) as worker:
        with pytest.raises(WorkerError) as caught:
            worker.call("functions:raise_plainly")
        assert worker.call("functions:double", 1)["twice"] == 2  # and the worker lives on
    line = FUNCTIONS.splitlines().index('    raise ValueError("kernel size is 0\\n\\n----\\nC++ stack")') + 1
    expected = f"the torch worker failed in layer1.conv (functions.py line {line}): ValueError: kernel size is 0"
    assert str(caught.value) == expected
    assert caught.value.kind == "error"


def test_a_refusal_arrives_in_its_own_words(project: Path) -> None:
    with Worker("torch", project) as worker, pytest.raises(MindferryError) as caught:
        worker.call("functions:refuse")
    assert str(caught.value) == "no such factory; name one with --model"


def test_a_segmentation_fault_is_reported_with_module_line_and_stack(project: Path) -> None:
    with Worker("torch", project) as worker, pytest.raises(WorkerError) as caught:
        worker.call("functions:segfault")
    text = str(caught.value)
    assert text.startswith("the torch worker died in layer2.pool (MaxPool2d) (")
    assert "SIGSEGV" in text and "functions.py, line" in text and "in string_at" in text
    assert caught.value.kind == "crash"


def test_a_hang_is_ended_and_reported(project: Path) -> None:
    with Worker("torch", project, silence=8.0) as worker, pytest.raises(WorkerError) as caught:
        worker.call("functions:hang")
    assert "hung in layer3.lstm" in str(caught.value) and "functions.py, line" in str(caught.value)
    assert worker._process.returncode is not None


def test_processes_started_by_the_worker_end_with_it(project: Path) -> None:
    with Worker("torch", project) as worker:
        pid = worker.call("functions:child")
        assert alive(pid)
    assert ends(pid)


def test_a_death_is_seen_although_a_forked_child_holds_the_pipe(project: Path) -> None:
    with Worker("torch", project) as worker, pytest.raises(WorkerError, match="exit code 7"):
        worker.call("functions:fork_then_die")


def test_workers_end_when_their_parent_is_killed(project: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from mindferry.frameworks.process import Worker\n"
        f"w = Worker('torch', Path({str(project)!r})); print(w._process.pid, w.scratch, flush=True)\n"
        "w.call('functions:hang')"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid, scratch = parent.stdout.readline().split()
    time.sleep(1.5)
    parent.kill()
    parent.wait()
    assert ends(int(pid))
    subprocess.run(["rm", "-rf", scratch], check=True)


def test_mindspore_gets_blocking_launches_and_a_convolution_that_is_not_slow(project: Path) -> None:
    (project / "probe.py").write_text(
        "import os\n"
        "def ask(payload, link):\n"
        "    import mindspore as ms\n"
        "    from mindspore import ops\n"
        "    link.doing('norm')\n"
        "    ops.layer_norm(ms.ops.ones((2, 3)), (3,), ms.ops.ones(3), ms.ops.ones(3))\n"  # has no CPU kernel
        "def environment(payload, link):\n"
        "    return dict(os.environ)\n"
    )
    with Worker("mindspore", project) as worker:
        seen = worker.call("probe:environment")
        with pytest.raises(WorkerError, match=r"in norm \(probe.py line 6\)"):
            worker.call("probe:ask")
    assert seen["GLOG_v"] == "4"
    if "avx512f" in Path("/proc/cpuinfo").read_text():
        assert "ONEDNN_MAX_CPU_ISA" in seen


def test_a_folder_of_data_that_both_projects_have_holds_the_files_of_both(tmp_path: Path) -> None:
    """The conversion took along what its user was given; what a command has made since lies in the reference alone."""
    for name in (
        "ours/made/pairs.txt",
        "ours/pkg/a.py",
        "theirs/made/pairs.txt",
        "theirs/made/deep/vocab",
        "theirs/pkg/b.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    place = tmp_path / "place"
    place.mkdir()
    link_entries(tmp_path / "ours", place)
    link_entries(tmp_path / "theirs", place, is_code_wanted=False)
    assert (place / "made/pairs.txt").read_text() == "ours/made/pairs.txt"
    assert (place / "made/deep/vocab").read_text() == "theirs/made/deep/vocab"
    assert (place / "pkg").resolve() == tmp_path / "ours/pkg"  # a package stays where it is
    (place / "made/new").write_text("written")
    assert not (tmp_path / "ours/made/new").exists()
