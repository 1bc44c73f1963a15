"""Two hosts, as two network namespaces of this machine; skipped where it doesn't allow them. Only their own addresses are used."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .support import converted, processes_of
from .test_two_workers import TRAINER, losses, run

HOSTS = {"mferry_a": "10.213.77.1", "mferry_b": "10.213.77.2"}


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def namespaces() -> Iterator[None]:
    first, second = HOSTS
    try:
        ip("netns", "add", first)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine allows no network namespaces")
    try:
        ip("netns", "add", second)
        ip("link", "add", "mferry0", "netns", first, "type", "veth", "peer", "name", "mferry0", "netns", second)
        for name, address in HOSTS.items():
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "mferry0")
            ip("-n", name, "link", "set", "mferry0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        for name in HOSTS:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def start(host: str, cwd: Path, *arguments: str) -> subprocess.Popen[str]:
    command = ["ip", "netns", "exec", host, sys.executable, "-m", "mindferry", "launch", "train.py", *arguments]
    return subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.slow
@pytest.mark.usefixtures("namespaces")
def test_two_hosts_train_like_two_processes_of_one(tmp_path: Path) -> None:
    project = converted(tmp_path, {"train.py": TRAINER})
    alone = run(project, "train.py", "--workers", "2")
    hosts = ",".join(HOSTS.values())
    jobs = {name: start(name, project, "--hosts", hosts, "--logs", str(tmp_path / name)) for name in HOSTS}
    outputs = {name: job.communicate(timeout=600) for name, job in jobs.items()}
    assert [job.returncode for job in jobs.values()] == [0, 0], outputs
    assert losses(outputs["mferry_a"][0]) == losses(alone.stdout) != []
    assert processes_of(project) == []


@pytest.mark.slow
@pytest.mark.usefixtures("namespaces")
def test_a_host_that_never_comes_is_a_sentence(tmp_path: Path) -> None:
    project = converted(tmp_path, {"train.py": TRAINER})
    job = start("mferry_a", project, "--hosts", ",".join(HOSTS.values()), "--timeout", "15")
    _, errors = job.communicate(timeout=600)
    assert job.returncode == 1
    assert (
        "not all 2 processes joined within 15 s; run the same command on every host (10.213.77.1, 10.213.77.2)"
        in errors
    )
    assert processes_of(project) == []


@pytest.mark.slow
@pytest.mark.usefixtures("namespaces")
def test_when_a_host_fails_the_other_one_ends_too(tmp_path: Path) -> None:
    project = converted(tmp_path, {"train.py": TRAINER})
    hosts = ",".join(HOSTS.values())
    jobs = [
        start(name, project, "--hosts", hosts, "--logs", str(tmp_path / name), "--", "--die", "killed")
        for name in HOSTS
    ]
    jobs[1].communicate(timeout=600)
    _, errors = jobs[0].communicate(timeout=600)
    assert [job.returncode for job in jobs] == [1, 1], errors
    assert processes_of(project) == []
