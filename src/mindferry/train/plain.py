"""The plain run: the converted script as it is, in a folder of its own, without its first framework; it must end as the original ended.

Its losses are not the original's, because its random numbers are its own: they must lie in the band that the original
spans when it runs with several seeds.
"""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from ..apis import SOURCES, TITLES, framework
from ..artifacts import Finding, PlainRun
from ..errors import MindferryError
from ..findings import MF230, MF231, MF232, MF233, MF234, Code
from ..frameworks.mirror import mirror
from ..frameworks.process import settings as framework_settings
from ..frameworks.watched import TO_END, Run, Watch, joined, run_watched, scratch_folder
from ..layout import SECOND, carried_name, source_framework
from .band import FEWEST, MOST, outside_band
from .printed import Printed, compare_printed

PATIENCE = 20.0  # times as long as the original the conversion may take
CHANCES = 2  # further runs of a conversion whose losses lie outside of the band: all of them must lie in it
SHORTEST = 300.0  # seconds that it has in any case
BLOCKED = ("torch", "torchvision", "torchaudio", "torchtext", "functorch", "mindferry")
BLOCKED_FOR_KERAS = (*framework(SECOND).roots, "mindferry")
HELPER_FILES = tuple(f"{framework(source).helpers}{end}" for source in SOURCES for end in (".py", "/"))
_EXIT_NOISE = re.compile(  # what MindSpore's cells say when the interpreter ends before them
    r"Exception ignored in: <function Cell\.__del__[^\n]*\n(?:Traceback[^\n]*\n)?(?:  [^\n]*\n)*(?:\w+: [^\n]*\n?)?"
)

Show = Callable[[str], None]


def run_plain(
    project: Path,
    converted: Path,
    commands: Sequence[Sequence[str]],
    *,
    steps: int = 20,
    seconds: float = 600.0,
    seeds: int = FEWEST,
    most: int = MOST,
    first: Run | None = None,
    weights: Path | None = None,
    stdin: bytes = b"",
    without: Collection[str] = (),
    show: Show = lambda text: None,
) -> PlainRun:
    """Run the original with several seeds, then the conversion; commands one after another in the same folder.

    `first` is a run of the original that was already watched, `without` what it left in the project. Where it came to
    its end, the others must, too.
    """
    started = time.monotonic()
    source = source_framework(project, module_of(commands[-1]))
    root = project if project.is_dir() else project.parent
    runs = [first] if first is not None else []
    named = [
        [str(weights.resolve()) if weights and word == weights.name else word for word in each] for each in commands
    ]

    def limit() -> int:
        return 0 if runs and runs[0].is_whole else steps

    def add_seeds(count: int) -> None:
        while len(runs) < count:
            show(f"the original, seed {len(runs) + 1}")
            to_end = 0.0 if runs else TO_END  # the first one shows whether it is worth waiting for
            run = _run(
                root, None, named, Watch(root, "seed", limit(), seconds, to_end, 1000 * len(runs)), stdin, without
            )
            if not run.is_well and not runs:
                raise MindferryError(f"`{shlex.join(run.command)}` fails in the original: {_last_line(run.output)}")
            if not run.is_well:
                return
            runs.append(run)

    add_seeds(seeds)
    own = [[carried_name(word) for word in each] for each in commands]
    patience = max(SHORTEST, PATIENCE * max(run.seconds for run in runs))
    blocked = BLOCKED_FOR_KERAS if source == SECOND else BLOCKED

    def convert_run(seed: int) -> Run:
        show("the conversion" if not seed else "the conversion, with other random numbers")
        watch = Watch(root, "plain", limit(), patience, seed=seed, blocked=blocked)
        return _run(root, converted, own, watch, stdin, without)

    ours = convert_run(0)
    if is_suspect(ours, runs):
        add_seeds(most)
    told = judge(ours, runs)
    if is_suspect(ours, runs):
        told = _by_chance(told, (convert_run(1000 * number) for number in range(1, 1 + CHANCES)), runs)
    return replace(told, seconds=round(time.monotonic() - started, 1), framework=TITLES[source])


def _by_chance(told: PlainRun, others: Iterable[Run], runs: Sequence[Run]) -> PlainRun:
    """Losses of a game may lie far out once in a hundred runs, of whatever framework; a fault shows in every run."""
    last = told
    for each in others:
        last = judge(each, runs)
        if not last.passed:
            return told
    return replace(last, left_band=1)


def is_suspect(ours: Run, runs: Sequence[Run]) -> bool:
    """Whether only the band speaks against the run: a few seeds may be too narrow a band."""
    told = judge(ours, runs).finding
    return told is not None and told.code == MF232


def judge(ours: Run, runs: Sequence[Run], seconds: float = 0.0) -> PlainRun:
    """The first thing that is wrong, in the order in which a user would meet it."""
    theirs = runs[0]
    seeds = tuple(run.losses for run in runs)
    outside: tuple[int, ...] = ()
    finding = _failure(ours)
    if finding is None:
        finding = _other_ending(ours, runs)
    if finding is None:
        finding = _other_rates(ours, runs)
    if finding is None:
        outside, what = outside_band(ours.losses, seeds)
        finding = _finding(MF232, what) if what else None
    told = Printed()
    if finding is None and not ours.losses:
        told = compare_printed(ours.output, [run.output for run in runs])
        finding = _finding(MF233, told.wrong) if told.wrong else None
    command = shlex.join(ours.command)
    return PlainRun(
        command,
        ours.ended,
        theirs.ended,
        ours.losses,
        seeds,
        finding is None,
        finding,
        outside,
        round(seconds, 1),
        ours.output[-4000:],
        printed=told.compared,
        missed=told.missed,
    )


def plain_summary(run: PlainRun) -> str:
    """One line about it."""
    wrong = run.finding
    if wrong is not None:
        return f"{wrong.path}:{wrong.line}: {wrong.message}" if wrong.path else wrong.message
    how = f"by itself, without {run.framework}" + (", to its end" if run.ended == "itself" else "")
    if not run.losses and run.printed:
        return f"ran {how}; {run.printed} numbers that it prints are the original's"
    if not run.losses:
        return f"ran {how}, as the original does; neither makes a training step"
    if not any(math.isfinite(loss) for losses in run.seeds for loss in losses):
        return f"{len(run.losses)} steps {how}; the original's losses are no numbers, so they tell nothing"
    chance = f", in {CHANCES} of {CHANCES + 1} runs" if run.left_band else ""
    return f"{len(run.losses)} steps {how}; losses in the band of {len(run.seeds)} seeds{chance}"


def _run(
    root: Path,
    code: Path | None,
    commands: Sequence[Sequence[str]],
    watch: Watch,
    stdin: bytes,
    without: Collection[str],
) -> Run:
    runs: list[Run] = []
    with scratch_folder() as scratch:
        folder = mirror(root, scratch / "tree", code, without)
        (scratch / "stdin").write_bytes(stdin)
        environment = framework_settings("mindspore") if code is not None else {}
        with (scratch / "stdin").open("rb") as given:
            for number, command in enumerate(commands):
                is_last = number == len(commands) - 1  # those before it run to their end: it needs what they write
                run = run_watched(
                    command,
                    folder,
                    replace(watch, root=folder, steps=watch.steps if is_last else 0),
                    scratch / f"records-{number}",
                    environment=environment,
                    stdin=given if stdin else subprocess.DEVNULL,
                )
                runs.append(replace(run, output=_EXIT_NOISE.sub("", run.output)))
                if not run.is_well:
                    break
    return joined(runs)


def _failure(ours: Run) -> Finding | None:
    """An error, with the line of the converted project that raised it."""
    if ours.ended == "seconds":
        return _finding(MF231, f"the converted script was still running after {ours.seconds:.0f} s")
    if ours.is_well:
        return None
    error = next((record["error"] for record in ours.records if record.get("error")), None)
    if error is None:
        return _finding(MF230, f"the converted script ended with {_ending(ours.code)}: {_last_line(ours.output)}")
    message = " ".join(str(error["message"]).split("\n\n")[0].split("\n----")[0].split())[:400]
    frames = error["frames"]
    inside = [frame for frame in frames if not any(name in str(frame[0]) for name in HELPER_FILES)] or frames
    path, line = (str(inside[-1][0]), int(inside[-1][1])) if inside else ("", 0)
    return _finding(MF230, f"the converted script fails: {error['type']}: {message}", path, line)


def _other_ending(ours: Run, runs: Sequence[Run]) -> Finding | None:
    """It must end as the original ended, after as many steps; where these depend on chance, as its seeds show."""
    theirs, made = runs[0], len(ours.losses)
    counts = sorted({len(run.losses) for run in runs if run.ended == theirs.ended})
    if theirs.ended == "seconds" and (ours.ended == "steps" or made >= counts[0]):
        return None  # as many steps as were asked for, or more than the original had the time for
    if not counts[0] <= made <= counts[-1]:
        told = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        return _finding(MF231, f"the converted script made {made} training steps, the original {told}")
    if ours.ended != theirs.ended and theirs.ended in ("itself", "steps"):
        return _finding(MF231, f"the converted script ended by {ours.ended}, the original by {theirs.ended}")
    return None


def _other_rates(ours: Run, runs: Sequence[Run]) -> Finding | None:
    """The learning rate at each step, where it is one whatever the seeds: losses of many steps hide a rate that falls later.

    An optimizer of MindSpore's own tells the rate of the step that comes next.
    """
    rates = [run.rates for run in runs]
    count = min(len(ours.rates), *map(len, rates))
    for step in range(count):
        same = {each[step] for each in rates}
        near = {each for given in rates[:1] for each in given[max(0, step - 1) : step + 2]}
        if len(same) == 1 and not any(math.isclose(ours.rates[step], each, rel_tol=1e-4) for each in near):
            right = next(iter(same))
            if math.isfinite(right) and math.isfinite(ours.rates[step]):
                said = f"step {step + 1}: a learning rate of {ours.rates[step]:.4g}, where the original has {right:.4g}"
                return _finding(MF234, said)
    return None


def module_of(command: Sequence[str]) -> str:
    """The module that a command runs: its framework is the one that counts where a project uses both."""
    script = next((word for word in command if word.endswith(".py")), "")
    named = next((after for before, after in pairwise(command) if before == "-m"), "")
    return named or script.removesuffix(".py").replace("/", ".")


def _finding(code: Code, message: str, path: str = "", line: int = 0) -> Finding:
    advice = code.advice[0].lower() + code.advice[1:].rstrip(".")
    return Finding(code, code.severity, path, line, 1 if path else 0, message, advice)


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no output")[:400]
