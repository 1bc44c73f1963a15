"""Feed the converter generated and mutated real sources until the time is up: `python fuzz/convert.py --seconds 60`.

Whatever the text, the converter hands back text that compiles, or says in one line why it can't read it. Anything else is
a defect: another exception, ten seconds on one file, a conversion that doesn't compile (MF901), a lost comment.
What failed is kept in --keep and named; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import signal
import sys
import tempfile
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from mindferry.apis import Form, table
from mindferry.convert import convert_source
from mindferry.read.source import Unreadable

HANG = 10  # seconds of the processor's: a busy machine is not a hang
LONGEST = 12_000  # characters of a seed: enough for several classes, and thousands of files an hour
REPOSITORY = Path(__file__).parents[1]
# of the repository alone, so that a seed means the same wherever it is checked out
FOLDERS = (
    "tests/projects",
    "tests/trainers",
    "tests/convert/left_alone",
    "tests/analyze/sources",
    "examples",
    "benchmarks/workloads",
)
WORDS = (
    "x self model net torch nn F optim np loss data out weight bias forward backward train eval no_grad cuda to view size shape item "
    "detach numpy add_ zero_ T device dtype None True 0 1 -1 2.5 'mean' \"x\" f'{x:.2f}' ... *args **kw lambda: await yield"
).split()
LINES = (
    "x = torch.zeros(3); y = x.cuda()",
    "with torch.no_grad(): x = 1",
    "if x: import torch",
    "from torch import *",
    "import torch, os",
    "@torch.jit.script",
    "@torch.no_grad()",
    "x += torch.ones(1)  # why",
    "x[mask] = torch.tensor([1,\n  2,  # two\n])",
    "for i, (a, b) in enumerate(loader): loss = F.relu(a, inplace=True); loss.backward(); opt.step()",
    "class N(nn.Module): pass",
    "class N(nn.Module):\n    def forward(self, x): return x.view(x.size(0), -1)",
    "print(f'{x.size(0)!r:>{w}} {x.max(1)[1]=}')",
    "x = (torch.cat  # a\n     ([x, y]  # b\n      , 1))",
    "y = x.t() \\\n    .view(-1)",
    "try:\n    import torch\nexcept ImportError:\n    torch = None",
    "match x:\n    case torch.float32: pass\n    case nn.Linear(weight=w): w.data.zero_()",
    "async def f(x: torch.Tensor = torch.zeros(1)) -> 'torch.Tensor':\n    async with x: return await x.cuda()",
    "del x, torch",
    "global torch",
    "x = [t.cuda() for t in ts if (n := t.numel()) > 1]",
    "lambda x, *a, k=torch.ones(2), **kw: x.add_(k)",
    "x: torch.Tensor",
    "assert torch.is_tensor(x), torch.__version__",
    "\f",
    "\tx = 1",
    "'''\n%s torch\n'''",
    "é = torch.tensor('é')",
    "x.data = x.data.mul_(2)",
    "while (loss := net(x)).item() > 1: opt.zero_grad(); loss.backward()",
)


def seeds(also: list[Path]) -> list[str]:
    """Real sources: the repository's projects and examples, and those of the folders that are named."""
    texts = []
    for folder in (*(REPOSITORY / name for name in FOLDERS), *also):
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text("utf-8", "replace")
            if "torch" in text:
                texts.append(text)
    return texts


def blocks(text: str) -> list[str]:
    """Top-level statements with their comments, roughly: what can be moved about."""
    return re.split(r"\n(?=[^\s#)\]}])", text)


def excerpt(text: str, rng: random.Random) -> str:
    """The imports and a run of other top-level statements."""
    parts = blocks(text)
    imports = [part for part in parts if re.match(r"(import|from)\b", part)]
    others = [part for part in parts if part not in imports] or [""]
    start, chosen, size = rng.randrange(len(others)), list(imports), 0
    for part in others[start:]:
        size += len(part)
        if size > LONGEST:
            break
        chosen.append(part)
    return "\n".join(chosen) + "\n"


def mutate(text: str, rng: random.Random, apis: list[str], others: list[str]) -> str:
    for _ in range(rng.choice((0, 1, 1, 2, 4, 8))):
        match rng.randrange(8):
            case 0 | 1:
                text = change_token(text, rng, apis)
            case 2 | 3:
                text = insert_line(text, rng)
            case 4:
                lines = text.splitlines(keepends=True)
                at = rng.randrange(len(lines) + 1)
                text = "".join(lines[:at] + lines[at + rng.choice((1, 1, 3)) :])
            case 5:
                parts = blocks(text)
                rng.shuffle(parts)
                text = "\n".join(parts)
            case 6:
                parts = blocks(text)
                parts.insert(rng.randrange(len(parts) + 1), rng.choice(blocks(rng.choice(others))))
                text = "\n".join(parts)
            case _:
                text = rng.choice(
                    (
                        lambda t: t.replace("\n", "\r\n"),
                        lambda t: t.replace("    ", "\t"),
                        lambda t: t.rstrip("\n"),
                        lambda t: "\ufeff" + t,
                        lambda t: re.sub(r"(?m)#.*$", "", t),
                        lambda t: re.sub(r"\)$", ")  # c", t, flags=re.MULTILINE),
                        lambda t: t.replace(", ", ",  # c\n        ", 1),
                        lambda t: re.sub(r"\bimport torch\.nn as nn\b", "from torch import nn", t),
                    )
                )(text)
    return text


def change_token(text: str, rng: random.Random, apis: list[str]) -> str:
    """Another word, number or API in place of one; or an argument more or less."""
    found = list(re.finditer(r"[A-Za-z_][\w.]*|\d+|\([^()\n]*\)", text))
    if not found:
        return text
    match = rng.choice(found)
    old = match.group()
    if old.startswith("("):
        inner = [part for part in old[1:-1].split(",") if part.strip()]
        rng.shuffle(inner)
        inner = inner[: rng.randrange(len(inner) + 1)] + rng.choices(
            ("*x", "**x", "k=1", "dim=-1", "x[0]", "inplace=True"), k=rng.randrange(2)
        )
        new = f"({', '.join(inner)})"
    else:
        new = rng.choice((rng.choice(WORDS), rng.choice(apis), rng.choice(found).group()))
    return text[: match.start()] + new + text[match.end() :]


def insert_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines) + 1)
    indent = re.match(r"[ \t]*", lines[at]).group() if at < len(lines) else ""
    lines[at:at] = [f"{indent}{line}\n" for line in rng.choice(LINES).split("\n")]
    return "".join(lines)


def generate(rng: random.Random, apis: list[str]) -> str:
    """A program made of nothing but the odd lines, calls and nesting."""
    lines = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F"]
    indent = ""
    for _ in range(rng.randrange(1, 25)):
        kind = rng.randrange(6)
        if kind == 0 and len(indent) < 12:
            lines.append(
                indent
                + rng.choice(
                    ("if x:", "for x in y:", "def f(x):", "class C(nn.Module):", "with torch.no_grad():", "try:")
                )
            )
            tried = lines[-1].endswith("try:")
            lines += [indent + "    " + each for each in rng.choice(LINES).split("\n")]
            lines += [f"{indent}finally: pass"] if tried else []
            indent += "" if tried else "    "
        elif kind == 1:
            indent = indent[4:]
        elif kind == 2:
            lines += [indent + each for each in rng.choice(LINES).split("\n")]
        else:
            arguments = ", ".join(
                rng.choice(("x", "y", "1", "x.size(0)", f"{rng.choice(apis)}(x)", "dim=1", "k=(x)"))
                for _ in range(rng.randrange(4))
            )
            lines.append(
                f"{indent}{rng.choice(('x = ', '', 'return ', 'x.y = ', 'x[0] = ', 'x += ')) if indent else 'x = '}{rng.choice(apis)}({arguments})"
            )
    return "\n".join(lines) + "\n"


def comments(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.strip()


def lost_comment(before: str, after: str) -> str:
    """A comment that is no longer there. Those that speak to tools about an import go with it."""
    try:
        left, there = Counter(comments(before)), list(comments(after))
        left.subtract(there)
    except (tokenize.TokenError, SyntaxError):
        return ""
    tools = re.compile(r"#\s*(noqa|type:|pylint:|pyright:|pyrefly:|isort:|usort:|ruff:|fmt:|mindferry:)")
    joined = [
        text for text in there if text.count("#") > 1
    ]  # a decorator that became a comment, with the one behind it
    lost = (text for text, count in left.items() if count > 0 and not tools.match(text))
    return next((text for text in lost if not any(other.endswith(text) for other in joined)), "")


def compiles(text: str) -> bool:
    try:
        compile(text, "<original>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def attempt(text: str) -> str:
    """`converted`, `refused`, or what went wrong."""
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        result = convert_source(text)
        broken = next((each for each in result.findings if each.code == "MF901"), None)
        if broken is not None:
            return f"MF901: {broken.message}"
        if result.main == text and not result.rewrites:  # no torch: not ours to judge
            return "converted" if compiles(text) else "refused"
        for code in (result.code, result.main, result.helpers):
            compile(code, "<converted>", "exec", dont_inherit=True)
        lost = lost_comment(text, result.main)
        return f"lost comment: {lost}" if lost else "converted"
    except Unreadable as error:
        return "refused" if "\n" not in str(error) else f"a message of several lines: {error!r}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error} ({_place(error)})"
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


def fuzz(
    seconds: float, files: float, seed: int, keep: Path, also: list[Path], say: Callable[[str], None] = print
) -> int:
    warnings.simplefilter("ignore")  # the texts compare numbers with `is`, and worse
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    signal.signal(signal.SIGPROF, _hanging)
    texts = seeds(also)
    apis = sorted(entry.api for entry in table() if entry.form is not Form.UNKNOWN)
    apis += ["x." + api.rpartition(".")[2] for api in apis if api.startswith("torch.Tensor.")]
    end, slowest = time.monotonic() + seconds, 0.0
    while time.monotonic() < end and counts.total() < files:
        text = generate(rng, apis) if rng.random() < 0.2 else excerpt(rng.choice(texts), rng)
        text = mutate(text, rng, apis, texts)
        start = time.process_time()
        outcome = attempt(text)
        slowest = max(slowest, time.process_time() - start)
        counts[outcome if outcome in ("converted", "refused") else "failed"] += 1
        if outcome not in ("converted", "refused"):
            keep.mkdir(parents=True, exist_ok=True)
            path = keep / f"{counts['failed']}.py"
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            say(f"{path}: {outcome}")
    say(f"{counts.total()} files: {dict(counts)}; slowest {slowest:.2f} s; seed {seed}")
    return 1 if counts["failed"] or not counts["converted"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--files", type=int, help="as many files instead, however long they take: with --seed, the same ones each time"
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "mindferry-fuzz-convert")
    parser.add_argument("--also", type=Path, nargs="*", default=[], help="folders with more sources to start from")
    options = parser.parse_args()
    limits = (float("inf"), options.files) if options.files else (options.seconds, float("inf"))
    sys.exit(fuzz(*limits, options.seed, options.keep, options.also))
