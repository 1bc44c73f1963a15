"""What `mindferry launch` would start, and what it refuses before anything starts."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.cli.launch import command
from mindferry.errors import MindferryError
from mindferry.launch import msrun_lines, plan
from mindferry.launch.litter import swept
from mindferry.launch.logs import error_of, failed_worker
from mindferry.launch.run import newest


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text("print('hello')\n")
    return path


def test_each_host_gets_a_line_with_its_rank(script: Path) -> None:
    job = plan(script, ("--lr", "0.1"), workers=4, hosts=("10.77.0.1", "10.77.0.2"), is_run=False)
    first, second = (shlex.split(line) for line in msrun_lines(job))
    assert first[0] == "msrun" and first[-3:] == [str(script), "--lr", "0.1"]
    assert {
        "--worker_num=8",
        "--local_worker_num=4",
        "--master_addr=10.77.0.1",
        "--master_port=8118",
        "--node_rank=0",
    } <= set(first)
    assert set(second) - set(first) == {"--node_rank=1"}


def test_print_starts_nothing(script: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(command, [str(script), "--workers", "2", "--print", "--", "--epochs", "3 4"])
    assert result.exit_code == 0
    assert result.stdout.startswith("msrun --worker_num=2 --local_worker_num=2 --master_addr=127.0.0.1")
    assert result.stdout.endswith("--epochs '3 4'\n")
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


def test_a_converted_project_is_launched_with_its_own_script_and_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path.parent)  # put back afterwards: the command enters the project
    (tmp_path / "train.py").write_text("")
    (tmp_path / "mindferry.toml").write_text('[train]\nscript = "train.py"\nargs = ["--weights", "net.pth"]\n')
    result = CliRunner().invoke(command, [str(tmp_path), "--print"])
    assert result.exit_code == 0 and result.stdout.endswith(" train.py --weights net.ckpt\n")
    other = CliRunner().invoke(command, [str(tmp_path), "--print", "--", "--epochs", "2"])
    assert other.stdout.endswith(" train.py --epochs 2\n")


def test_a_folder_without_a_training_script_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MindferryError, match="which script trains"):
        CliRunner().invoke(command, [str(tmp_path)], catch_exceptions=False, standalone_mode=False)


def test_a_missing_script_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MindferryError, match="there is no script"):
        plan(tmp_path / "none.py", ())


def test_a_port_in_use_is_a_sentence(script: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(MindferryError, match=f"port {port} is in use"):
            plan(script, (), workers=2, port=port)
    assert plan(script, (), workers=2, port=port).port == port


def test_a_port_in_use_ends_the_command_with_one_sentence(script: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "mindferry", "launch", str(script), "--workers", "2", "--port", str(port)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr
        == f"mindferry: port {port} is in use on this machine; give another with --port, the same on every host\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        (("203.0.113.1", "203.0.113.2"), "this machine is none of the hosts"),
        (("127.0.0.1", "127.0.0.1"), "twice"),
        (("127.0.0.1", "localhost"), "are all this machine"),
        (("no-such-host.invalid",), "no address is known for the host"),
    ],
)
def test_a_host_list_that_cannot_be_is_a_sentence(script: Path, hosts: tuple[str, ...], message: str) -> None:
    with pytest.raises(MindferryError, match=message):
        plan(script, (), workers=1, hosts=hosts)


def test_no_workers_is_a_sentence(script: Path) -> None:
    with pytest.raises(MindferryError, match="at least 1"):
        plan(script, (), workers=0)


def test_the_error_of_a_rank_is_its_last_exception_with_the_line_of_the_script(tmp_path: Path) -> None:
    log = tmp_path / "worker_1.log"
    log.write_text(
        "step 1\n[ERROR] ME(1,7f,python):2026 noise\nTraceback (most recent call last):\n"
        '  File "/x/train.py", line 7, in <module>\n    main()\n  File "/lib/python/net.py", line 3, in call\n    raise\n'
        "ValueError: bad shape\n\n----\n- C++ Call Stack\n"
    )
    assert error_of(log, Path("train.py")) == "train.py:7: ValueError: bad shape"


def test_the_first_failed_worker_is_read_from_msrun(tmp_path: Path) -> None:
    log = tmp_path / "msrun.log"
    log.write_text(
        "[ERROR] ME(5:1,MainProcess): Worker process 4711 exit with exception. Error code: -9.\nWorker process 4712 exit with exception. Error code: 1."
    )
    assert failed_worker(log) == (4711, -9)


def test_what_mindspore_drops_goes_to_the_logs_and_what_the_script_writes_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, logs = tmp_path / "work", tmp_path / "logs"
    (work / "kernel_meta").mkdir(parents=True)
    logs.mkdir()
    monkeypatch.chdir(work)
    with swept(logs):
        for name in ("rank_0/om", "rank_1/results", "akg_kernel_meta", "runs"):
            (work / name).mkdir(parents=True)
    assert sorted(path.name for path in work.iterdir()) == ["kernel_meta", "rank_1", "runs"]
    assert sorted(path.name for path in logs.iterdir()) == ["akg_kernel_meta", "rank_0"]


def test_the_newest_checkpoint_is_one_that_was_written_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = bytes([10, 26, 10, 1, 120, 18, 21, 8, 2, 18, 7]) + b"Float32" + bytes([26, 8]) + bytes(8)  # x: two zeros
    (tmp_path / "one.ckpt").write_bytes(record)
    (tmp_path / "two.ckpt").write_bytes((tmp_path / "one.ckpt").read_bytes()[:-3])
    os.utime(tmp_path / "one.ckpt", (1, 1))
    monkeypatch.chdir(tmp_path)
    assert newest("*.ckpt") == "one.ckpt"
    assert newest(str(tmp_path / "*.ckpt")) == str(tmp_path / "one.ckpt")
    assert newest("none/*.ckpt") == "" == newest("")
