"""What the ranks wrote: rank 0's output as it comes, and the error of the rank that failed, in one sentence."""

from __future__ import annotations

import re
import signal
from pathlib import Path

FAILED = re.compile(r"Worker process (\d+) exit with exception\. Error code: (-?\d+)")
NOISE = re.compile(r"^\[(?:INFO|WARNING|ERROR|CRITICAL)\] \w+\(\d+,")
FRAME = re.compile(r'^\s+File "([^"]+)", line (\d+)')
ERROR = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b.*")


class Tail:
    """The new lines of a growing file, without MindSpore's own log lines."""

    def __init__(self, path: Path) -> None:
        self.path, self.offset, self.rest = path, 0, ""

    def lines(self, is_last: bool = False) -> list[str]:
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                data = file.read()
        except OSError:
            return []
        self.offset += len(data)
        *whole, self.rest = (self.rest + data.decode("utf-8", "replace")).split("\n")
        if is_last and self.rest:
            whole, self.rest = [*whole, self.rest], ""
        return [line for line in whole if not NOISE.match(line)]


def failed_worker(msrun_log: Path) -> tuple[int, int] | None:
    """(process, exit code) of the first worker that msrun saw fail."""
    try:
        found = FAILED.search(msrun_log.read_text("utf-8", "replace"))
    except OSError:
        return None
    return (int(found[1]), int(found[2])) if found else None


def error_of(log: Path, script: Path) -> str:
    """The exception that ended a rank, with the script's line; '' if it raised none."""
    try:
        lines = [line for line in log.read_text("utf-8", "replace").splitlines() if not NOISE.match(line)]
    except OSError:
        return ""
    starts = [index for index, line in enumerate(lines) if line.startswith("Traceback (most recent call last)")]
    if not starts:
        return ""
    body = lines[starts[-1] + 1 :]
    position = next((index for index, line in enumerate(body) if ERROR.match(line)), None)
    if position is None:
        return ""
    message = " ".join(body[position].split())
    detail = next((line.strip() for line in body[position + 1 :] if line.strip(" -") and not line.startswith("-")), "")
    if message.endswith(":") or len(message.split(":", 1)[-1].strip(" -")) < 2:
        message = f"{message.rstrip(' :-')}: {detail}"
    own = [match for line in body[:position] if (match := FRAME.match(line)) and Path(match[1]).name == script.name]
    return f"{script.name}:{own[-1][2]}: {message}" if own else message


def ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
