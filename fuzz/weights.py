"""Feed the checkpoint readers broken files until the time is up: `python fuzz/weights.py --seconds 60`.

Each is listed and read whole, and carried as `weights convert --whole` does. A reader may accept a file or refuse it in one line. Anything else is a defect: another exception, ten seconds on one
file, or more memory than the limit. What failed is kept in --keep and named; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import io
import json
import pickle
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import numpy as np

from mindferry.errors import MindferryError
from mindferry.weights.formats.entry import Entry
from mindferry.weights.formats.files import open_checkpoint, write_checkpoint
from mindferry.weights.formats.pth import LEGACY_MAGIC
from mindferry.weights.formats.pth_write import _pickle as pickled
from mindferry.weights.whole import carry_whole

HANG = 10  # seconds of the processor's: a busy machine is not a hang
MEMORY = 1 << 30  # bytes above what the imports took
INTERESTING = (0, 1, -1, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, -(2**63))
OPCODES = bytes(range(256))
TRAINING = {
    "epoch": 3,
    "state": OrderedDict(weight=np.ones((2, 2), np.float32), count=np.array(3)),
    "args": argparse.Namespace(lr=0.1, sizes=[1, (2, None)], out=PurePosixPath("a/b"), only={"a", "b"}),
    "space": SimpleNamespace(flags=frozenset({1, 2})),
    "best": np.float64(2.5),
    "history": [(0, float("inf")), (1, -1.5)],
    "keys": {1: True, None: b"ab", ("a", "b"): {0.5, "c"}},
}  # whatever `weights convert --whole` carries beside tensors


def seeds(folder: Path) -> dict[str, bytes]:
    """One small sound file of each format."""
    rng = np.random.default_rng(0)
    arrays = {"conv.weight": rng.random((2, 3), np.float32), "bn.running_mean": rng.random(3), "n": np.array(3)}
    entries = [Entry(n, str(a.dtype), a.shape, compute=lambda a=a: a) for n, a in arrays.items()]
    made = {}
    for suffix in ("pth", "safetensors", "ckpt"):
        write_checkpoint(folder / f"seed.{suffix}", entries, "ms")
        made[suffix] = (folder / f"seed.{suffix}").read_bytes()
    storages = b"".join(struct.pack("<q", array.size) + array.tobytes() for array in arrays.values())
    heads = [
        b"\x80\x02M\xe9\x03.",
        pickle.dumps({"little_endian": True}, 2),
        pickled(entries),
        pickle.dumps(["0", "1", "2"], 2),
    ]
    made["legacy.pth"] = LEGACY_MAGIC + b"".join(heads) + storages
    made["numpy.pth"] = repacked(made["pth"], pickle.dumps({"model": arrays, "epoch": 3}, 2))
    around = b"\x80\x02}(X\x05\x00\x00\x00epochK\x03X\x05\x00\x00\x00model" + pickled(entries)[2:-1] + b"u."
    made["nested.pth"] = repacked(made["pth"], around)
    for protocol in (2, 4):
        made[f"training{protocol}.pth"] = repacked(made["pth"], pickle.dumps(TRAINING, protocol))
    plain = {**TRAINING, "state": bytearray(b"ab"), "best": None}  # numpy has another way to pickle an array by then
    made["training5.pth"] = repacked(made["pth"], pickle.dumps(plain, 5))
    return made


def repacked(archive: bytes, data_pkl: bytes) -> bytes:
    """The zip with another pickle and right checksums: otherwise the checksum alone would stop every mutation."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            target.writestr(name, data_pkl if name.endswith("data.pkl") else source.read(name))
    return out.getvalue()


def mutate(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """A few random edits: flips, numbers that break things, cuts, repeats, and pieces of other files."""
    raw = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not raw:
            break
        at = rng.randrange(len(raw))
        match rng.randrange(7):
            case 0:
                raw[at] ^= 1 << rng.randrange(8)
            case 1:
                raw[at] = rng.choice(OPCODES)
            case 2:
                size = rng.choice((1, 2, 4, 8))
                number = rng.choice(INTERESTING) % (1 << 8 * size)
                raw[at : at + size] = number.to_bytes(size, rng.choice(("little", "big")))
            case 3:
                del raw[at : at + rng.randrange(1, 40)]
            case 4:
                raw[at:at] = raw[at : at + rng.randrange(1, 40)] * rng.choice((1, 2, 50))
            case 5:
                other = rng.choice(others)
                start = rng.randrange(len(other))
                raw[at:at] = other[start : start + rng.randrange(1, 60)]
            case _:
                raw[at:at] = bytes(rng.choice(OPCODES) for _ in range(rng.randrange(1, 9)))
    return bytes(raw)


def mutate_inside(kind: str, data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Edits behind the outer checks: in a zip's pickle, in a safetensors header of the right length."""
    if kind.endswith("pth") and kind != "legacy.pth":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return repacked(data, mutate(archive.read("archive/data.pkl"), rng, others))
    if kind == "safetensors":
        length = int.from_bytes(data[:8], "little")
        header = mutate(data[8 : 8 + length], rng, [json.dumps(INTERESTING).encode(), *others])
        return struct.pack("<Q", len(header)) + header + data[8 + length :]
    return mutate(data, rng, others)


def read_all(path: Path) -> None:
    with open_checkpoint(path) as checkpoint:
        checkpoint.verify()
        buffer = bytearray(1 << 16)
        for entry in checkpoint.entries:
            for _ in entry.chunks(buffer):
                pass


def carry(path: Path) -> None:
    """As `weights convert --whole` does: the output is there whole, or not at all."""
    output = path.with_name("carried.ckpt")
    output.unlink(missing_ok=True)
    try:
        carry_whole(path, output)
    except MindferryError:
        if output.exists() or list(path.parent.glob(".*.part")):
            raise AssertionError("it was refused, and something is there") from None
        raise
    with open_checkpoint(output) as checkpoint:
        checkpoint.verify()


READERS: tuple[Callable[[Path], None], ...] = (read_all, carry)


def catch_hangs() -> None:
    signal.signal(signal.SIGPROF, lambda *_: (_ for _ in ()).throw(TimeoutError(f"more than {HANG} s")))


def attempt(path: Path) -> str:
    """`accepted` by any of the readers, `refused`, or what went wrong."""
    outcomes = [attempt_one(read, path) for read in READERS]
    wrong = [each for each in outcomes if each not in ("accepted", "refused")]
    return wrong[0] if wrong else min(outcomes)


def attempt_one(read: Callable[[Path], None], path: Path) -> str:
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        read(path)
        return "accepted"
    except MindferryError as error:
        return "refused" if "\n" not in str(error) else f"a message of several lines: {error!r}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def fuzz(seconds: float, count: float, seed: int, keep: Path, say: Callable[[str], None] = print) -> int:
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    catch_hangs()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    with tempfile.TemporaryDirectory() as scratch:
        files = seeds(Path(scratch))
        others = list(files.values())
        end, slowest = time.monotonic() + seconds, 0.0
        while time.monotonic() < end and counts.total() < count:
            kind = rng.choice(list(files))
            change = mutate_inside if rng.random() < 0.6 else lambda _, data, *rest: mutate(data, *rest)
            data = change(kind, files[kind], rng, others)
            path = Path(scratch) / f"case.{kind}"
            path.write_bytes(data)
            start = time.process_time()
            outcome = attempt(path)
            slowest = max(slowest, time.process_time() - start)
            counts[outcome if outcome in ("accepted", "refused") else "failed"] += 1
            if outcome not in ("accepted", "refused"):
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{counts['failed']}.{kind}").write_bytes(data)
                say(f"{keep / str(counts['failed'])}.{kind}: {outcome}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before
    say(
        f"{counts.total()} files: {dict(counts)}; slowest {slowest:.2f} s; memory grew by {grown >> 20} MB; seed {seed}"
    )
    return 1 if counts["failed"] or grown > MEMORY or not counts["accepted"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--files", type=int, help="as many files instead, however long they take: with --seed, the same ones each time"
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "mindferry-fuzz")
    options = parser.parse_args()
    limits = (float("inf"), options.files) if options.files else (options.seconds, float("inf"))
    sys.exit(fuzz(*limits, options.seed, options.keep))
