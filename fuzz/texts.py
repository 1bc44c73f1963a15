"""Feed broken records, notebooks and tomls until the time is up: `python fuzz/texts.py --seconds 60 --kind notebook`.

Each may be read or refused in one sentence. Anything else is a defect: another exception, ten seconds on one text, or
more memory than the limit, which the operating system enforces. What failed is kept in --keep; the exit code is then 1.
Without --kind all kinds are taken in turns. A seed gives the same texts whatever else is installed.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutations import mutate_json, mutate_text, mutate_toml
from text_readers import READERS, Reader

from mindferry.errors import MindferryError

HANG = 10  # seconds of the processor's
MEMORY = 1 << 30  # bytes above what the imports took
SHAPES: dict[str, Callable[[str, random.Random], bytes]] = {
    "json": mutate_json,
    "toml": mutate_toml,
    "text": mutate_text,
}


def attempt(read: Callable[[Path, bytes], None], folder: Path, text: bytes) -> str:
    """`accepted`, `refused`, or what went wrong."""
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        read(folder, text)
        return "accepted"
    except MindferryError as error:
        return "refused" if len(str(error)) < 2000 else f"a message of {len(str(error))} letters"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:300]} ({_place(error)})"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _place(error: BaseException) -> str:
    trace, place = error.__traceback__, ""
    while trace is not None:
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _hanging(*_: object) -> None:
    raise TimeoutError(f"more than {HANG} s")


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (pages + MEMORY, resource.RLIM_INFINITY))


def make(reader: Reader, rng: random.Random) -> bytes:
    seed_text = rng.choice(reader.seeds)
    change = SHAPES[reader.shape] if rng.random() < 0.7 else mutate_text
    return change(seed_text, rng)


def fuzz(
    seconds: float, count: float, seed: int, keep: Path, kinds: list[str], say: Callable[[str], None] = print
) -> int:
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    signal.signal(signal.SIGPROF, _hanging)
    _limit_memory()
    end, slowest = time.monotonic() + seconds, 0.0
    with tempfile.TemporaryDirectory() as scratch:
        while time.monotonic() < end and counts.total() < count:
            kind = rng.choice(kinds)
            text = make(READERS[kind], rng)
            start = time.process_time()
            outcome = attempt(READERS[kind].read, Path(scratch), text)
            slowest = max(slowest, time.process_time() - start)
            counts[outcome if outcome in ("accepted", "refused") else "failed"] += 1
            if outcome not in ("accepted", "refused"):
                keep.mkdir(parents=True, exist_ok=True)
                path = keep / f"{counts['failed']}.{kind}"
                path.write_bytes(text)
                say(f"{path}: {outcome}")
    say(f"{counts.total()} texts: {dict(counts)}; slowest {slowest:.2f} s; seed {seed}")
    return 1 if counts["failed"] or not counts["accepted"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--files", type=int, help="as many texts instead: with --seed, the same ones each time")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--kind", action="append", choices=sorted(READERS), help="what is fed; may be given again")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "mindferry-fuzz-texts")
    options = parser.parse_args()
    limits = (float("inf"), options.files) if options.files else (options.seconds, float("inf"))
    sys.exit(fuzz(*limits, options.seed, options.keep, options.kind or sorted(READERS)))
