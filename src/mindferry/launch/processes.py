"""The processes of a launched job, found by a mark in their environment: msrun gives each worker a session of its own."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

MARK = "MINDFERRY_LAUNCH"


@dataclass(frozen=True, slots=True)
class Member:
    pid: int
    parent: int
    role: str  # MS_WORKER, MS_SCHED, or '' for msrun itself
    rank: int


def members(mark: str) -> list[Member]:
    """Every living process of the job."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            entries = (folder / "environ").read_bytes().split(b"\0")
            if wanted not in entries:
                continue
            status = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if status[0] != "Z":
            values = dict(entry.decode("utf-8", "replace").partition("=")[::2] for entry in entries if entry)
            rank = values.get("RANK_ID", "-1")
            found.append(
                Member(int(folder.name), int(status[1]), values.get("MS_ROLE", ""), int(rank) if rank.isdigit() else -1)
            )
    return found


def end_all(mark: str, patience: float = 3.0) -> None:
    """Ask every process of the job to end, then make it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for member in members(mark):
            try:
                os.kill(member.pid, number)
            except ProcessLookupError:
                continue
        deadline = time.monotonic() + patience
        while members(mark) and time.monotonic() < deadline:
            time.sleep(0.1)
