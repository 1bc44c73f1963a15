"""What to start: one msrun line for each host, checked before anything runs."""

from __future__ import annotations

import shlex
import socket
from dataclasses import dataclass
from pathlib import Path

from ..artifacts import STATE
from ..errors import MindferryError

PORT = 8118  # msrun's own default
LOCAL = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Job:
    """One script on `workers` processes of every host."""

    script: Path
    args: tuple[str, ...]
    workers: int
    hosts: tuple[str, ...]
    node: int  # which of the hosts this machine is
    port: int
    logs: Path
    timeout: int  # seconds in which every process must have joined

    @property
    def total(self) -> int:
        return self.workers * len(self.hosts)

    @property
    def ranks(self) -> range:
        """The ranks that run on this machine."""
        return range(self.node * self.workers, (self.node + 1) * self.workers)


def plan(
    script: Path,
    args: tuple[str, ...],
    *,
    workers: int = 1,
    hosts: tuple[str, ...] = (),
    port: int = 0,
    logs: Path | None = None,
    timeout: int = 300,
    is_run: bool = True,
) -> Job:
    """A job whose parts exist; with `is_run`, on this machine and with a port that is free."""
    if not script.is_file():
        raise MindferryError(f"there is no script {script}; give the path of the converted training script")
    if workers < 1:
        raise MindferryError(f"--workers {workers}: give the number of processes for each host, at least 1")
    if len(set(hosts)) != len(hosts):
        raise MindferryError(
            f"--hosts names {next(h for h in hosts if hosts.count(h) > 1)} twice; name each machine once"
        )
    node = own_place(hosts) if is_run and hosts else 0
    if not hosts and not port and is_run:
        port = free_port()
    port = port or PORT
    if is_run and node == 0 and not is_free(hosts[0] if hosts else LOCAL, port):
        raise MindferryError(f"port {port} is in use on this machine; give another with --port, the same on every host")
    logs = logs or script.resolve().parent / STATE / "launch"
    return Job(script, args, workers, hosts or (LOCAL,), node, port, logs, timeout)


def msrun_lines(job: Job) -> list[str]:
    """The plain line for each host, for people who don't want the wrapper."""
    return [
        shlex.join(["msrun", *options(job, node, Path("msrun_log")), str(job.script), *job.args])
        for node in range(len(job.hosts))
    ]


def options(job: Job, node: int, logs: Path) -> list[str]:
    several = [f"--node_rank={node}"] if len(job.hosts) > 1 else []
    return [
        f"--worker_num={job.total}",
        f"--local_worker_num={job.workers}",
        f"--master_addr={job.hosts[0]}",
        f"--master_port={job.port}",
        *several,
        f"--cluster_time_out={job.timeout}",
        f"--log_dir={logs}",
        "--join=True",
    ]


def own_place(hosts: tuple[str, ...]) -> int:
    """Which of the hosts this machine is: the one whose address it can listen on."""
    own = []
    for index, host in enumerate(hosts):
        try:
            address = socket.gethostbyname(host)
        except OSError:
            raise MindferryError(f"no address is known for the host {host}; write its IP address in --hosts") from None
        with socket.socket() as probe:
            try:
                probe.bind((address, 0))
            except OSError:
                continue
        own.append(index)
    if not own:
        raise MindferryError(
            f"this machine is none of the hosts {', '.join(hosts)}; run the command on each of them, or add this machine's address"
        )
    if len(own) > 1:
        names = " and ".join(hosts[index] for index in own)
        raise MindferryError(
            f"{names} are all this machine; name each machine once and use --workers for its processes"
        )
    return own[0]


def is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # ports of ended connections are free
        try:
            probe.bind((socket.gethostbyname(host), port))
        except (OSError, OverflowError):
            return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        return int(probe.getsockname()[1])
