"""Feed broken records, notebooks, configurations and maps of names until the time is up: `python fuzz/texts.py --seconds 60`.

Each may be read or refused in one sentence. Anything else is a defect: another exception, ten seconds on one text, or
more memory than the limit, which the operating system enforces. What failed is kept in --keep; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import json
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

from mindferry.artifacts import FileConversion, Finding, Inventory, ProjectConversion, Rewrite, dumps, load
from mindferry.config import read_config
from mindferry.convert.one_file import convert_one
from mindferry.convert.settings import Settings
from mindferry.convert.snippet import framework
from mindferry.errors import MindferryError
from mindferry.layout import Layout, ProjectFile
from mindferry.read.symbols import Symbols
from mindferry.weights.usermap import read_user_map

HANG = 10  # seconds of the processor's
MEMORY = 1 << 30  # bytes above what the imports took
PIECES = (
    *(
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        ",",
        ":",
        "=",
        "\n",
        "\\",
        "\0",
        "\ufeff",
        "\ud800",
        "é漢",
        "null",
        "true",
        "-1",
        "1e999",
    ),
    *(
        "9" * 5000,
        "[" * 3000,
        '{"a":' * 3000,
        "NaN",
        "../../x",
        "/etc/passwd",
        '"""',
        "'''",
        "%%bash\n",
        "!ls\n",
        "# mindferry cell 1\n",
    ),
    *(
        "[convert]\n",
        "exclude = [1]\n",
        "[[train]]\n",
        "args = [",
        "import torch\n",
        "x.view(-1)\n",
        "\\ud800",
        "\r\n",
        "\f",
        "\x1b[31m",
    ),
)
RECORD = dumps(
    ProjectConversion(
        "/in",
        "/out",
        (
            FileConversion("a.py", "converted", "0" * 64, (Rewrite(1, 1, "torch.ones", "a", "b"),), (), "k", ("h",)),
            FileConversion("b/c.py", "failed", "", (), (Finding("MF900", "error", "b/c.py", 1, 1, "m", "a"),)),
        ),
        ("h",),
        {"mindspore.nn.Dense": {"weight": "weight"}},
    )
)
NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {
                "cell_type": "code",
                "source": ["import torch\n", "x = torch.ones(2)"],
                "outputs": [],
                "execution_count": 1,
            },
            {"cell_type": "markdown", "source": "# text"},
            {"cell_type": "code", "source": "%time x.view(-1)\n!ls\ny = x?\n", "outputs": []},
        ],
    },
    indent=1,
)
CONFIG = """[convert]
exclude = ["tests/*"]
[weights]
file = "a.pth"
create = ["make.py", "--small"]
[verify]
model = "net:Net"
inputs = ["float32[2,3]"]
steps = 3
k = 4.0
[train]
script = "train.py"
args = ["--epochs", "1"]
"""
MAP = """drop = ["head\\\\..*"]
[names]
"a.weight" = "b.weight"
[patterns]
'layer(\\d)\\.(.*)' = 'block\\1.\\2'
[transforms]
"a.weight" = "permute:1,0"
"""


def read_record(folder: Path, text: bytes) -> None:
    (folder / ".mindferry").mkdir(exist_ok=True)
    (folder / ".mindferry" / "convert.json").write_bytes(text)
    (folder / ".mindferry" / "analyze.json").write_bytes(text.replace(b"ProjectConversion", b"Inventory"))
    load(ProjectConversion, folder, "convert")
    load(Inventory, folder, "analyze")


def read_notebook(folder: Path, text: bytes) -> None:
    (folder / "a.ipynb").write_bytes(text)
    file = ProjectFile(folder / "a.ipynb", "a.ipynb", "")
    written = convert_one(file, Layout(folder, (file,), ()), Symbols(framework()), Settings())
    defects = [finding.message for finding in written.record.findings if finding.code == "MF901"]
    if defects:
        raise AssertionError(defects[0])
    if written.record.status == "failed":
        raise MindferryError(written.record.findings[0].message)
    if written.record.status == "converted":
        json.loads(written.content())


def read_toml(folder: Path, text: bytes) -> None:
    (folder / "mindferry.toml").write_bytes(text)
    read_config(folder)


def read_map(folder: Path, text: bytes) -> None:
    (folder / "map.toml").write_bytes(text)
    read_user_map(folder / "map.toml")


READERS: dict[str, tuple[str, Callable[[Path, bytes], None]]] = {
    "record": (RECORD, read_record),
    "notebook": (NOTEBOOK, read_notebook),
    "configuration": (CONFIG, read_toml),
    "map": (MAP, read_map),
}


def mutate(text: str, rng: random.Random) -> bytes:
    """A few random edits: pieces that break things, cuts, repeats, swaps, and another encoding."""
    for _ in range(rng.choice((1, 1, 2, 4, 12))):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randrange(1, 30) :]
            case 2:
                text = text[:at] + text[at : at + rng.randrange(1, 60)] * rng.choice((2, 3, 40)) + text[at:]
            case _:
                end = at + rng.randrange(1, 12)
                text = text[:at] + "".join(rng.choice(PIECES) for _ in range(rng.randrange(3))) + text[end:]
        text = text[:400_000]
    encoding = rng.choice(("utf-8",) * 8 + ("utf-16", "utf-8-sig", "utf-32"))
    raw = bytearray(text.encode(encoding, "surrogatepass"))
    if raw and rng.random() < 0.1:
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


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
        return f"{type(error).__name__}: {str(error)[:300]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _hanging(*_: object) -> None:
    raise TimeoutError(f"more than {HANG} s")


def fuzz(seconds: float, count: float, seed: int, keep: Path, say: Callable[[str], None] = print) -> int:
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    signal.signal(signal.SIGPROF, _hanging)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (pages + MEMORY, resource.RLIM_INFINITY))
    end, slowest = time.monotonic() + seconds, 0.0
    with tempfile.TemporaryDirectory() as scratch:
        while time.monotonic() < end and counts.total() < count:
            kind = rng.choice(list(READERS))
            seed_text, read = READERS[kind]
            text = mutate(seed_text, rng)
            start = time.process_time()
            outcome = attempt(read, Path(scratch), text)
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
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "mindferry-fuzz-texts")
    options = parser.parse_args()
    limits = (float("inf"), options.files) if options.files else (options.seconds, float("inf"))
    sys.exit(fuzz(*limits, options.seed, options.keep))
