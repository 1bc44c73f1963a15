"""The torch side, in its worker: the reference script under the same clocks, then under torch.profiler."""

from __future__ import annotations

import json
import math
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..frameworks.requests import Tuned, TuneRequest
from ..frameworks.watch.mindferry_watch.outer_steps import watch_steps
from ..frameworks.worker import Link
from ..train.script import EnoughSteps, run_script
from ..tune_record import Profile
from .attribute import operators_of
from .clock import OBSERVED, PLAIN, PROFILED, Clock, now
from .executions import Execution
from .layers import LayerCall
from .mindspore_run import until_enough
from .model_steps import call_step, train_module
from .summary import median, phases_of
from .trace import write_trace


def measure(request: TuneRequest, link: Link) -> Tuned:
    assert link.project is not None
    watch = TorchWatch(request, link)
    watch.install()
    if request.model:
        until_enough(lambda: train_module(request.model, request.inputs))
    elif request.step:
        until_enough(lambda: call_step(request.step, lambda: len(watch.clock.steps)))
    else:
        run_script(link.project, request.script, request.args)
    if not watch.clock.steps:
        raise MindferryError(
            f"{request.script} made no training step in torch; check [train] script and args in mindferry.toml"
        )
    watch.end_profile()
    return Tuned(watch.profile())


class TorchWatch:
    def __init__(self, request: TuneRequest, link: Link) -> None:
        assert link.project is not None
        self.link, self.clock = link, Clock(request.plan, link.project)
        self.losses: list[float] = []
        self.pending: Any = None
        self.has_optimizer = False
        self.names: dict[int, str] = {}
        self.open: list[tuple[Any, int]] = []
        self.calls: list[LayerCall] = []
        self.forward: Any = None
        self.profiler: Any = None
        self.events: list[Execution] = []

    def install(self) -> None:
        from torch.nn.modules import module
        from torch.optim import Optimizer

        start, watch = Optimizer.__init__, self

        def begin(each: Any, *args: Any, **kwargs: Any) -> None:
            watch.has_optimizer = True
            start(each, *args, **kwargs)

        Optimizer.__init__ = begin
        self._watch_loaders()
        self._watch_backward()
        module.register_module_forward_pre_hook(self._before_forward)
        module.register_module_forward_hook(self._after_forward, always_call=True)
        spans: list[Any] = []

        def before(each: Any) -> None:
            spans.append(watch.clock.span("optimizer", type(each).__name__))
            spans[-1].__enter__()

        def after(each: Any) -> None:
            spans.pop().__exit__(None, None, None)
            watch.after_step()

        watch_steps(before, after)

    def _watch_loaders(self) -> None:
        from torch.utils.data import DataLoader

        original, watch = DataLoader.__iter__, self

        def iterate(loader: Any) -> Iterator[Any]:
            watch.clock.step.is_border = True
            batches = original(loader)
            while True:
                with watch.clock.span("waiting for data"):
                    batch = next(batches, batches)
                if batch is batches:
                    return
                yield batch

        DataLoader.__iter__ = iterate

    def _watch_backward(self) -> None:
        import torch

        original, watch = torch.Tensor.backward, self

        def backward(loss: Any, *args: Any, **kwargs: Any) -> Any:
            watch.pending = loss.detach() if watch.pending is None else watch.pending + loss.detach()
            with watch.clock.span("backward"):
                result = original(loss, *args, **kwargs)
            if not watch.has_optimizer:
                watch.after_step()
            return result

        torch.Tensor.backward = backward

    def _before_forward(self, module: Any, inputs: Any) -> None:
        if not self.open:
            if id(module) not in self.names:
                self.names |= {id(each): name or type(module).__name__ for name, each in module.named_modules()}
            self.forward = self.clock.span("forward", type(module).__name__)
            self.forward.__enter__()
        self.open.append((module, now()))

    def _after_forward(self, module: Any, inputs: Any, output: Any) -> None:
        module, start = self.open.pop()
        if self.clock.stage == PROFILED:
            shapes = ", ".join(str(tuple(each.shape)) for each in inputs if hasattr(type(each), "shape"))
            self.calls.append(LayerCall(self.names.get(id(module), type(module).__name__), start, now(), shapes))
        if not self.open:
            self.forward.__exit__(None, None, None)

    def after_step(self) -> None:
        following = self.clock.step_done(self._between)
        self.losses.append(math.nan if self.pending is None else float(self.pending.sum()))
        self.pending = None
        self.link.say(f"torch {self.clock.steps[-1].stage} {len(self.losses)}")
        if not following:
            raise EnoughSteps
        self.clock.begin_step()
        self.link.doing(f"step {len(self.losses) + 1}, after {len(self.losses)} whole ones")

    def _between(self, stage: str) -> None:
        if stage == PROFILED:
            from torch.profiler import ProfilerActivity, profile

            self.profiler = profile(activities=[ProfilerActivity.CPU], record_shapes=True)
            self.profiler.start()
        else:
            self.end_profile()

    def end_profile(self) -> None:
        if self.profiler is not None:
            profiler, self.profiler = self.profiler, None
            profiler.stop()
            path = self.link.scratch / "torch.json"
            profiler.export_chrome_trace(str(path))
            self.events = read_trace(path)

    def profile(self) -> Profile:
        clock = self.clock
        steps = [step for step in clock.steps if step.stage == PROFILED]
        spans = [span for span in clock.spans if steps and span.start >= steps[0].start]
        operators = operators_of(self.events, spans, self.calls, len(steps)) if steps else ()
        trace = self.link.scratch / "trace.json"
        write_trace(trace, "torch", clock, self.events, self.calls)
        return Profile(
            framework="torch",
            device="CPU",
            steps=len(clock.measured(PLAIN)),
            step_seconds=median(clock, PLAIN),
            observed_seconds=median(clock, OBSERVED),
            phases=phases_of(clock, operators),
            operators=operators,
            peak_memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            losses=tuple(self.losses),
            step_times=tuple(step.seconds for step in clock.measured(PLAIN)),
            trace=str(trace),
        )


def read_trace(path: Path) -> list[Execution]:
    """The outermost operators of each thread: what they call is theirs."""
    body = json.loads(path.read_text())
    base = int(body.get("baseTimeNanoseconds", 0))
    events = [each for each in body["traceEvents"] if each.get("cat") == "cpu_op" and each.get("ph") == "X"]
    found, until = [], dict[Any, float]()
    for each in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        if each["ts"] < until.get(each["tid"], -1.0):
            continue
        until[each["tid"]] = each["ts"] + each["dur"]
        shapes = ", ".join(str(size) for size in each.get("args", {}).get("Input Dims", ()) if size)
        name = each["name"].removeprefix("autograd::engine::evaluate_function: ").removeprefix("aten::")
        found.append(Execution(name, base + int(each["ts"] * 1e3), each["dur"] / 1e6, shapes))
    return found
