"""Runs a group of conformance entries in a worker that is restarted when it crashes or hangs; results are kept as they come."""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mindferry.errors import MindferryError
from mindferry.frameworks.process import Worker, WorkerError

FOLDER = Path("build/conformance")
LIMIT = 60.0  # seconds without a word from one sample


@dataclass(frozen=True, slots=True)
class Group:
    """One of torch's databases: `module` has `names` and `check_all` for the worker."""

    name: str
    title: str
    module: str


@dataclass(slots=True)
class Result:
    name: str
    right: int = 0
    total: int = 0
    index: int = -1  # of the first failing sample
    source: str = ""
    reason: str = ""
    run: str = ""  # the day, and the commit of this tree; a + says that it was changed

    @property
    def is_right(self) -> bool:
        return self.total > 0 and self.right == self.total

    def add(self, message: dict[str, Any]) -> None:
        self.total += 1
        if not message["reason"]:
            self.right += 1
        elif self.index < 0:
            self.index, self.source, self.reason = message["index"], message["source"], message["reason"]


@dataclass(slots=True)
class Driver:
    group: Group
    samples: int | None = None
    worker: Worker | None = None
    results: dict[str, Result] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.group.name}.jsonl"

    def load(self) -> None:
        """What earlier runs found; the last line about an entry counts."""
        if self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                record = json.loads(line)
                self.results[record["name"]] = Result(**record)

    def keep(self, page: Path) -> None:
        """Rows of the page that no run here has replaced, as far as torch still has such entries."""
        if page.exists():
            group = json.loads(page.read_text("utf-8"))["groups"].get(self.group.name, {"entries": []})
            known = set(self.names())
            for record in group["entries"]:
                if record["name"] not in self.results and record["name"] in known:
                    self.results[record["name"]] = Result(**record)
            self.close()

    def names(self) -> list[str]:
        found: list[str] = self._worker().call(f"{self.group.module}:names", {})
        return found

    def run(self, names: Iterable[str]) -> None:
        wanted, stamp = list(names), _stamp()
        FOLDER.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(wanted, 1):
            result = self._entry(name)
            result.run = stamp
            self.results[name] = result
            if not result.is_right:
                self.close()  # a kernel's error can surface as late as in the next entry
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            mark = "ok " if result.is_right else "BAD"
            print(
                f"{number}/{len(wanted)} {mark} {name} {result.right}/{result.total} {result.source} {result.reason}"[
                    :400
                ],
                file=sys.stderr,
            )
        self.close()

    def _entry(self, name: str) -> Result:
        result, start = Result(name), 0
        last: dict[str, Any] = {"index": -1, "source": name, "reason": "running"}

        def note(message: dict[str, Any]) -> None:
            last.update(message)
            if message["reason"] != "running":
                result.add(message)

        while True:
            try:
                payload = {"name": name, "start": start, "samples": self.samples}
                self._worker().call(f"{self.group.module}:check_all", payload, note)
                return result
            except WorkerError as error:
                self.close()
                if last["reason"] != "running" or (error.kind == "error" and last["index"] < start):
                    result.add({**last, "reason": f"{error.kind}: {error.detail}"})
                    return result
                result.add({**last, "reason": f"{error.kind}: {error.detail}"})
                start = last["index"] + 1

    def _worker(self) -> Worker:
        if self.worker is None:
            self.worker = Worker("mindspore", silence=LIMIT)
        return self.worker

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()
            self.worker = None


def _stamp() -> str:
    """When and on what a run was made."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d} {commit or 'no repository'}"


def summary(driver: Driver) -> str:
    results = driver.results.values()
    right = sum(each.is_right for each in results)
    samples, good = sum(each.total for each in results), sum(each.right for each in results)
    share = 100 * right / max(len(driver.results), 1)
    return f"{driver.group.name}: {right} of {len(driver.results)} {driver.group.title} right ({share:.1f} %), {good} of {samples} samples"


def main(group: Group) -> None:
    parser = argparse.ArgumentParser(
        prog=f"python -m {group.module}", description=f"torch's {group.name} through conversion, on MindSpore"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="these entries, again; a name ending in * is a prefix"
    )
    parser.add_argument("--failed", action="store_true", help="those that were not right the last time, again")
    parser.add_argument("--samples", type=int, metavar="N", help="at most N samples of an entry")
    options = parser.parse_args()
    driver = Driver(group, options.samples)
    driver.load()
    try:
        every = driver.names()
        driver.run(_chosen(every, driver, options.only, options.failed))
    except MindferryError as error:
        sys.exit(str(error))
    print(summary(driver))


def _chosen(every: list[str], driver: Driver, only: list[str] | None, failed: bool) -> list[str]:
    if only:
        chosen = [
            name
            for name in every
            if any(name == each or (each.endswith("*") and name.startswith(each[:-1])) for each in only)
        ]
        if not chosen:
            raise MindferryError(f"no entry is called {', '.join(only)}; names look like {', '.join(every[:3])}")
        return chosen
    if failed:
        return [name for name in every if name not in driver.results or not driver.results[name].is_right]
    return [name for name in every if name not in driver.results]
