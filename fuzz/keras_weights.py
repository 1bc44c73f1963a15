"""Feed Keras' and TensorFlow's weight readers broken files until the time is up: `python fuzz/keras_weights.py --seconds 60`.

As fuzz/weights.py, with tests/fixtures/keras as the sound files. HDF5 is read by a library in C, so the files are read in a
process of their own: its death by a signal is a defect like any other, and the next file gets a new process.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import random
import resource
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mindferry.weights.formats.keras import ARCHIVED
from weights import HANG, MEMORY, attempt, catch_hangs, mutate

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures" / "keras"
NAMES = ("model.weights.h5", "model.keras", "older.h5", "module.index")
SOUND = ("accepted", "refused")


def changed(name: str, data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Anywhere; or inside an archive, behind its checksum; or among the first bytes, where HDF5 keeps its tables."""
    if name.endswith(".keras") and rng.random() < 0.7:
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
            for each in source.namelist():
                inner = source.read(each)
                target.writestr(each, changed("", inner, rng, others) if each == ARCHIVED else inner)
        return out.getvalue()
    if rng.random() < 0.5:
        head = rng.choice((256, 2048, 8192))
        return overwritten(data[:head], rng) + data[head:]
    return mutate(data, rng, others) if rng.random() < 0.5 else overwritten(data, rng)


def overwritten(data: bytes, rng: random.Random) -> bytes:
    """The same length: HDF5 refuses at once a file whose addresses are moved."""
    raw = bytearray(data)
    for _ in range(rng.choice((1, 2, 4, 16))):
        at = rng.randrange(len(raw))
        raw[at] = rng.choice((0, 1, 255, raw[at] ^ (1 << rng.randrange(8)), rng.randrange(256)))
    return bytes(raw)


def read_files(asked: Connection) -> None:
    """In a process of its own: a path comes, what became of it goes back with the memory that was taken so far."""
    catch_hangs()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while path := asked.recv():
        start = time.process_time()
        outcome = attempt(path)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before << 10
        asked.send((outcome, time.process_time() - start, grown))


class Reader:
    """A process that reads files, replaced when it dies."""

    def __init__(self) -> None:
        self.process: multiprocessing.process.BaseProcess | None = None

    def read(self, path: Path) -> tuple[str, float, int]:
        if self.process is None:
            self.asked, theirs = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("fork").Process(target=read_files, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        self.asked.send(path)
        process = self.process
        try:
            if self.asked.poll(20 * HANG):  # of the clock: the machine may be busy
                return self.asked.recv()  # type: ignore[no-any-return]
            outcome = "hangs in the library"
        except EOFError:
            process.join()
            outcome = f"the process died, exit code {process.exitcode}"
        process.kill()
        self.process = None
        return outcome, 0.0, 0


def fuzz(seconds: float, count: float, seed: int, keep: Path, say: Callable[[str], None] = print) -> int:
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    slowest, grown, reader = 0.0, 0, Reader()
    files = {name: (FIXTURES / name).read_bytes() for name in NAMES}
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(FIXTURES / "module.data-00000-of-00001", scratch)
        end = time.monotonic() + seconds
        while time.monotonic() < end and counts.total() < count:
            name = rng.choice(NAMES)
            data = changed(name, files[name], rng, list(files.values()))
            path = Path(scratch) / name
            path.write_bytes(data)
            outcome, took, more = reader.read(path)
            slowest, grown = max(slowest, took), max(grown, more)
            counts[outcome if outcome in SOUND else "failed"] += 1
            if outcome not in SOUND:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{counts['failed']}.{name}").write_bytes(data)
                say(f"{keep / str(counts['failed'])}.{name}: {outcome}")
    say(
        f"{counts.total()} files: {dict(counts)}; slowest {slowest:.2f} s; memory grew by {grown >> 20} MB; seed {seed}"
    )
    return 1 if counts["failed"] or grown > MEMORY or not counts["accepted"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--files", type=int, help="as many files instead: with --seed, the same ones each time")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "mindferry-fuzz")
    options = parser.parse_args()
    limits = (float("inf"), options.files) if options.files else (options.seconds, float("inf"))
    sys.exit(fuzz(*limits, options.seed, options.keep))
