"""A torch module and a MindSpore cell in this process -> Comparison."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..artifacts import Comparison, Gap
from ..errors import MindferryError
from ..frameworks import process
from ..frameworks.mindspore import against
from ..frameworks.mindspore_weights import Buffers, initial_buffers, kept_parameters
from .far_weights import all_variants, far_weights, has_far_weights
from .golden import open_golden
from .goldenfile import RecordError
from .hand_edits import gaps_of_objects
from .initial import initial_errors
from .judge import Rule, Verdict, judge
from .ledger import coverage, outcome_of
from .named import one_line
from .noise import is_near, measure_noise, with_noise
from .other_settings import with_settings
from .recorder import record
from .result import (
    Look,
    Result,
    closer,
    confirmed,
    has_unsettled,
    join,
    judge_initial,
    leaves_float32,
    next_look,
    notes_on,
)
from .surroundings import Starts, computed_buffers, starts_of
from .tried_methods import Settled, calling, place_of
from .turned_settings import described, gap_of_turned, turned
from .unasked_inputs import gap_of
from .variants import floor_on, is_gradient, is_typed, mode_of


@dataclass(frozen=True, slots=True)
class _Pair:
    module: Any
    cell: Any
    inputs: list[tuple[str, Any]]
    modes: list[str]
    seed: int
    optimizers: tuple[Any, Any]
    initial: Buffers  # the cell's buffers as they were made
    starts: Starts | None  # what the module's constructor made, where that is known
    rule: Rule
    remake: Callable[[], Any] | None  # makes the module anew
    names: dict[str, str] = field(default_factory=dict)  # torch's parameters -> the cell's, once they are loaded

    def measure(self, path: Path, look: Look) -> Result:
        recorded = sorted({"eval" if mode == "jit" else mode for mode in self.modes})
        made, seed = self.optimizers[0], self.seed
        try:
            record(
                self.module,
                self.inputs,
                path,
                modes=recorded,
                seed=seed,
                inside=look.inside,
                optimizer=made,
                starts=self.starts,
                remake=self.remake,
                is_rough=look.is_rough,
            )
        except RecordError as error:
            raise MindferryError(str(error)) from None
        golden = open_golden(path)
        doing = [""]
        try:
            made = self.optimizers[1]
            measured = against(self.cell, golden, self.modes, None, made, doing.append, self.initial, self.names)
        except MindferryError:
            raise
        except Exception as error:  # a worker would say it so
            raise MindferryError(f"{doing[-1] or 'the conversion'} failed: {one_line(error)}") from error
        verdict = judge(measured.measurements, golden, self.rule)
        if not look.inside and is_near(verdict, golden):
            golden = with_noise(golden, measure_noise(self.module, self.inputs, path, seed))
            verdict = judge(measured.measurements, golden, self.rule)
        if has_unsettled(verdict):
            made = self.starts.buffers if self.starts is not None else None
            buffers = computed_buffers(self.module) if made is None else made
            verdict = judge_initial(verdict, initial_errors(self.remake, buffers, seed), self.rule)
        return Result(golden, measured, verdict)

    def try_size(
        self, path: Path, said: str, inputs: list[tuple[str, Any]], look: Look, is_watched: bool = False
    ) -> Result | None:
        """Outputs alone, in eval mode, on other inputs; None if the reference does not take them."""
        is_quick = not (look.inside or is_gradient(said))
        options: dict[str, Any] = {"inside": look.inside, "is_quick": is_quick, "is_rough": look.is_rough}
        options["is_typed"] = is_typed(said)
        options["has_weights"] = look.inside or has_far_weights(said)
        options["is_watched"] = is_watched
        modules, cells = list(self.module.named_modules()), list(self.cell.cells_and_names())
        with (
            far_weights(self.module, said),
            kept_parameters(self.cell, has_far_weights(said)),
            calling(self.module, modules, said, "forward"),
            calling(self.cell, cells, said, "construct"),
        ):
            return self._tried(path, said, inputs, options)

    def _tried(self, path: Path, said: str, inputs: list[tuple[str, Any]], options: dict[str, Any]) -> Result | None:
        try:
            record(self.module, inputs, path, modes=[mode_of(said)], seed=self.seed, **options)
        except Exception:  # whatever the user's code raises on a size that it was not made for
            return None
        golden = open_golden(path)
        measured = against(self.cell, golden, [mode_of(said)], initial=self.initial, names=self.names)
        rows = [row for row in measured.measurements if row.mode != "init"]
        rule = replace(self.rule, floor=floor_on(said, self.rule.floor))
        verdict = judge(rows, golden, rule)
        if not options["inside"] and is_near(verdict, golden):
            golden = with_noise(golden, measure_noise(self.module, inputs, path, self.seed))
            verdict = judge(rows, golden, rule)
        return Result(golden, measured, verdict)


def compare(
    torch_module: Any,
    cell: Any,
    inputs: Any,
    *,
    modes: Sequence[str] = ("eval", "train"),
    rule: Rule | None = None,
    seed: int = 0,
    optimizers: tuple[Any, Any] | None = None,
    in_full: bool = False,
    rebuild: Callable[[], Any] | None = None,
    vary: bool = True,
) -> Comparison:
    """Copy the torch module's weights into `cell` and compare the two on `inputs`, module by module.

    `inputs`: a tensor or array, a tuple of them, a dictionary for keyword arguments, or text such as
    'float32[4,3,224,224]'. `optimizers`: what makes torch's optimizer for the module, and MindSpore's for the cell.
    `in_full` measures torch's own float32 error everywhere, also where nothing rests on it. `rebuild` makes the torch module
    anew: where a buffer starts otherwise in the cell, it tells one that was computed wrongly from one that is random or trained.
    With `vary` the outputs are also compared on another batch size and on other sizes, where the reference takes them.
    """
    began = time.monotonic()
    import mindspore

    os.environ.update(process.settings("mindspore"))
    mindspore.runtime.launch_blocking()  # or an operator's error surfaces at a later one
    given = _inputs(inputs, seed)
    made = optimizers or (None, None)
    fresh = rebuild() if rebuild is not None else None
    starts = starts_of(fresh, rebuild) if fresh is not None and rebuild is not None else None
    first = initial_buffers(cell)
    pair = _Pair(torch_module, cell, given, list(modes), seed, made, first, starts, rule or Rule(), rebuild)
    was_training = cell.training
    with tempfile.TemporaryDirectory(prefix="mindferry-") as folder:
        path = Path(folder) / "golden.safetensors"
        result = pair.measure(path, Look(in_full))
        look = next_look(result, Look(in_full))
        while look is not None and not result.measured.is_spoilt:
            found = pair.measure(path.with_suffix(f".{look.is_rough}"), look)
            result = closer(result, found) if look.is_rough else found
            look = next_look(result, look)
        is_tried = vary and result.verdict.passed and not result.measured.is_spoilt
        settled = Settled(result)
        others, gaps = _try_sizes(pair, path, result.golden.methods, settled) if is_tried else ([], [])
        gaps += _turned_settings(pair, path, result.measured.turnable) if is_tried and not gaps else []
    cell.set_train(was_training)
    verdict, golden = result.verdict, result.golden
    measured = replace(result.measured, shortfalls=tuple(settled.rest(result.measured.shortfalls)))
    gaps += [*settled.gaps(), *(gaps_of_objects(torch_module, cell) if verdict.passed else [])]
    verdict = with_settings(join([("", verdict), *others]), golden, measured.settings)
    ledger = coverage(settled.golden(), measured, verdict.differences, modes, gaps)
    outcome = outcome_of(verdict.passed, ledger)
    return Comparison(
        type(cell).__name__,
        "",
        verdict.differences,
        None,
        outcome == "same",
        verdict.first_divergence,
        time.monotonic() - began,
        verdict.culprits,
        measured.unmatched,
        notes_on(golden),
        outcome=outcome,
        coverage=ledger,
    )


def _try_sizes(
    pair: _Pair, path: Path, methods: Mapping[str, Sequence[str]], settled: Settled
) -> tuple[list[tuple[str, Verdict]], list[Gap]]:
    """The first of each group of sizes that the reference takes; methods that nothing called."""
    found: list[tuple[str, Verdict]] = []
    gaps: list[Gap] = []
    for group in all_variants(pair.module, pair.inputs, methods):
        for said, inputs in group:
            if mode_of(said) not in pair.modes:
                continue
            try:
                is_watched = settled.watches(said)
                tried = pair.try_size(path, said, inputs, Look(), is_watched)
                is_method = place_of(said) is not None
                look = next_look(tried, Look()) if tried is not None and not is_method else None
                while tried is not None and look is not None:
                    closer_look = pair.try_size(path, said, inputs, look, is_watched)
                    if (
                        closer_look is None
                    ):  # the reference does not stand it (a gradient of NaN): what was seen first counts
                        break
                    rule = replace(pair.rule, floor=floor_on(said, pair.rule.floor))
                    tried = confirmed(tried, closer_look, rule)
                    look = next_look(tried, look)
                tried = None if tried is None or leaves_float32(said, tried) else tried
            except Exception as error:
                if is_typed(said):  # whoever gives it that type is told
                    return found, gaps
                gaps.append(Gap("inputs", said, "not comparable", f"the conversion fails: {one_line(error)}"))
                return found, gaps  # an operator failed in this process
            if tried is None:
                continue
            gap = gap_of(said, tried.verdict.passed)
            settled.note(said, tried)
            if is_method:
                break
            if gap is not None:
                gaps.append(gap)
            else:
                found.append((said, tried.verdict))
            break
    return found, gaps


def _turned_settings(pair: _Pair, path: Path, values: dict[str, float]) -> list[Gap]:
    """Numbers in attributes that a loop may turn: where the sides part with other ones, that is listed."""
    if not values or "eval" not in pair.modes:
        return []
    said = described(values)
    with turned(pair.module.named_modules(), values), turned(pair.cell.cells_and_names(), values):
        try:
            tried = pair.try_size(path, said, pair.inputs, Look())
        except Exception as error:
            return [gap_of_turned(said, f"the conversion fails with these numbers: {one_line(error)}")]
    return [] if tried is None or tried.verdict.passed else [gap_of_turned(said)]


def _inputs(inputs: Any, seed: int) -> list[tuple[str, Any]]:
    from .named import make_inputs

    if isinstance(inputs, str):
        return make_inputs([inputs], seed)
    if isinstance(inputs, Mapping):
        return [(str(name), _tensor(value)) for name, value in inputs.items()]
    if isinstance(inputs, list | tuple):
        if all(isinstance(item, str) for item in inputs):
            return make_inputs(list(inputs), seed)
        return [("", _tensor(value)) for value in inputs]
    return [("", _tensor(inputs))]


def _tensor(value: Any) -> Any:
    import numpy as np
    import torch

    return torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray | np.generic) else value
