"""Interrupt conversions at random file operations until the tries are used up: `python fuzz/interrupt.py --tries 300`.

Each try takes a command (`convert`, `weights convert`, `migrate`), ends it at a random file operation (killed, disk full,
read-only, or with a second run beside it), and looks: the originals are as they were, nothing half-written stands under
a final name, and the next run finishes with what an undisturbed run makes, leaving no partial file behind.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import hashlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mindferry.artifacts import STATE
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.migrate import migrate, write_page
from mindferry.report import REPORT
from mindferry.weights import convert_weights
from mindferry.weights.formats.entry import Entry
from mindferry.weights.formats.files import write_checkpoint

KINDS = ("kill", "full disk", "read-only", "two at once")
EVENTS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "os.truncate", "os.rmdir"})
NET = "import torch\nfrom torch import nn\n\n\nclass Net{n}(nn.Module):\n    def forward(self, x):\n        return x.view(-1, {n})\n"
Command = Callable[[Path], None]


def convert(folder: Path) -> None:
    convert_project(folder / "in", folder / "out")


def convert_checkpoint(folder: Path) -> None:
    convert_weights(folder / "in" / "a.safetensors", folder / "out" / "a.ckpt", force=True)


def convert_shards(folder: Path) -> None:
    convert_weights(folder / "in" / "a.safetensors", folder / "out" / "b.safetensors", shard_bytes=2000, force=True)


def migrate_all(folder: Path) -> None:
    """Without a network to run: analyze, convert, weights and the page."""
    outcomes = migrate(folder / "in", folder / "out", lambda outcome: None)
    wrong = next((each.summary for each in outcomes if not each.ok), "")
    if wrong:
        raise MindferryError(wrong)
    write_page(folder / "out")


COMMANDS: tuple[Command, ...] = (convert, convert_checkpoint, convert_shards, migrate_all)


def prepare(folder: Path, rng: random.Random) -> None:
    """A small project and a small checkpoint."""
    source = folder / "in"
    (source / "pkg" / "deep").mkdir(parents=True)
    for number in range(rng.randrange(2, 7)):
        (source / rng.choice(("", "pkg/", "pkg/deep/")) / f"net{number}.py").write_text(NET.format(n=number + 2))
    (source / "pkg" / "__init__.py").write_text("")
    (source / "README.md").write_text("# A project\n")
    (source / "requirements.txt").write_text("torch\n")
    (source / "mindferry.toml").write_text('[weights]\nfile = "a.safetensors"\n')
    arrays = {f"layer{n}.weight": np.full((rng.randrange(1, 40), 9), n, np.float32) for n in range(9)}
    entries = [Entry(name, "float32", each.shape, compute=lambda each=each: each) for name, each in arrays.items()]
    write_checkpoint(source / "a.safetensors", entries, "pt")


def tree(folder: Path) -> dict[str, str]:
    """Digests of what is there, finished records and pages aside: those hold the time."""
    found = {}
    for path in sorted(folder.rglob("*")):
        is_record = path.parent.name == STATE and path.suffix == ".json" and path.name != "unfinished.json"
        if path.is_file() and not is_record and path.name not in ("lock", REPORT):
            found[path.relative_to(folder).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


class Interruption:
    """Counts the file operations under a folder, and does something at one of them."""

    def __init__(self, folder: Path, at: int, kind: str) -> None:
        self.folder, self.at, self.kind, self.count = str(folder), at, kind, 0

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if event not in EVENTS or not str(arguments[0]).startswith(self.folder):
            return
        if event == "open" and not (int(arguments[2]) & (os.O_WRONLY | os.O_RDWR)):  # type: ignore[call-overload]
            return
        self.count += 1
        if self.at < 0 or self.count < self.at:
            return
        if self.kind == "kill" and self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == "full disk" and event in ("open", "os.mkdir", "os.rename"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.kind == "read-only":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def run(command: Command, folder: Path, kind: str = "", at: int = -1) -> int:
    """In a process of its own: 0 if it was done, 2 if it was refused in a sentence, else what went wrong."""
    child = os.fork()
    if child:
        return child
    code = 3
    with contextlib.suppress(BaseException):
        interruption = Interruption(folder / "out", at, kind)
        sys.addaudithook(interruption)
        try:
            command(folder)
            code = 0
        except MindferryError as error:
            code = 2 if "\n" not in str(error) else 4
        if kind == "count":
            (folder / "count").write_text(str(interruption.count))
    os._exit(code)


def wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def attempt(command: Command, kind: str, folder: Path, rng: random.Random) -> str:
    """`` if nothing was lost, else what was."""
    prepare(folder, rng)
    before = tree(folder / "in")
    if wait(run(command, folder, "count")) != 0:
        return "it fails undisturbed"
    clean, operations = tree(folder / "out"), int((folder / "count").read_text())
    if rng.random() < 0.7:
        shutil.rmtree(folder / "out")  # else: interrupted while it writes again over an earlier output
        if rng.random() < 0.5:
            (folder / "in" / "new.py").write_text("import torch\n\nx = torch.ones(3)\n")
            (folder / "in" / "new.py").unlink()
    else:
        for path in (folder / "out").rglob("*.py"):
            path.unlink()
    at = rng.randrange(1, operations + 1)
    if kind == "two at once":
        codes = [wait(each) for each in (run(command, folder), run(command, folder))]
    else:
        codes = [wait(run(command, folder, kind, at))]
    if any(code not in (0, 2, -signal.SIGKILL) for code in codes):
        return f"it ended with {codes} at operation {at}"
    if tree(folder / "in") != before:
        return "the originals changed"
    half = {name for name, digest in tree(folder / "out").items() if name in clean and digest != clean[name]}
    if half:
        return f"half-written: {sorted(half)} at operation {at}"
    if (code := wait(run(command, folder))) != 0:
        return f"the next run ended with {code} after operation {at} of {operations}"
    after = tree(folder / "out")
    if after != clean:
        return f"the next run left {sorted(after.items() ^ clean.items())} after operation {at}"
    return ""


def interrupt(tries: int, seed: int, keep: Path, say: Callable[[str], None] = print) -> int:
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    for number in range(tries):
        command, kind = COMMANDS[number % len(COMMANDS)], KINDS[number // len(COMMANDS) % len(KINDS)]
        folder = Path(tempfile.mkdtemp(prefix="mindferry-interrupt-"))
        lost = attempt(command, kind, folder, rng)
        counts["lost" if lost else kind] += 1
        if lost:
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copytree(folder, keep / str(number), dirs_exist_ok=True)
            say(f"try {number}, {command.__name__}, {kind}: {lost}; kept in {keep / str(number)}")
        shutil.rmtree(folder)
    say(f"{counts.total()} tries: {dict(counts)}; seed {seed}")
    return 1 if counts["lost"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "mindferry-interrupted")
    options = parser.parse_args()
    sys.exit(interrupt(options.tries, options.seed, options.keep))
