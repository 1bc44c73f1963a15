"""Says what is slow: each rule looks at one profile and names one cause, with the numbers that show it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..frameworks.requests import Counted, TuneFacts
from ..tune_record import Diagnosis, Operator, Profile

LOADER, COMPILE, CAST, SYNC, HOST, OPTIMIZER, CONVOLUTION, ELEMENTWISE = (
    0.25,
    0.15,
    0.12,
    0.05,
    0.25,
    0.35,
    0.25,
    0.45,
)  # shares of a step
BUSY = 0.5  # below this share of kernels, launching operators is what takes the time
REFERENCE_RATE = 5.0  # GFLOP/s: oneDNN's reference convolution stays far below, its compiled ones far above
TINY = 4  # rows
HEAVY = re.compile(r"^(Conv|.*MatMul|MatMul|Dense|Linear|.*Attention|LSTM|GRU)")
SIMPLE = re.compile(
    r"^(Add|AddExt|Sub|SubExt|Mul|Muls|Div|RealDiv|Neg|Exp|Log|Sqrt|Rsqrt|Pow|Square|Tanh|Erf|Abs|Maximum|Minimum|Reciprocal|"
    r"Reduce\w+|SumExt|MeanExt|BroadcastTo|Tile|Cast|Select|Greater|Less|Sigmoid|ExpandDims|Reshape|ZerosLike|OnesLike)\w*$"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A profile and what was noted beside it."""

    profile: Profile
    facts: TuneFacts

    @property
    def total(self) -> float:
        return sum(phase.seconds for phase in self.profile.phases) or 1e-12

    def share(self, *names: str) -> float:
        return sum(phase.seconds for phase in self.profile.phases if phase.name in names) / self.total

    def kernels(self, *names: str) -> float:
        """Share of these phases' time that is inside operators."""
        chosen = [phase for phase in self.profile.phases if phase.name in names and phase.kernels == phase.kernels]
        return sum(phase.kernels for phase in chosen) / (sum(phase.seconds for phase in chosen) or 1e-12)

    def part(self, chosen: list[Operator]) -> float:
        """Share of the step that these operators have. The profiler slows a step down, so only their part of the operators' time counts."""
        every = sum(each.seconds for each in self.profile.operators) or 1e-12
        inside = sum(phase.kernels for phase in self.profile.phases if phase.kernels == phase.kernels)
        return sum(each.seconds for each in chosen) / every * inside / self.total

    def operators(self, *phases: str) -> list[Operator]:
        return [each for each in self.profile.operators if each.phase in phases]

    def milliseconds(self, share: float) -> str:
        return f"{share * self.total * 1e3:.3g} ms of {self.total * 1e3:.3g} ms"


Rule = Callable[[Seen], Iterator[Diagnosis]]


def diagnose(profile: Profile, facts: TuneFacts | None = None) -> tuple[Diagnosis, ...]:
    """What was found, the largest share of the step first."""
    seen = Seen(profile, facts or TuneFacts())
    found = [each for rule in RULES for each in rule(seen)]
    codes = {each.code for each in found}
    hidden = {"small-operators"} if codes & {"sample-loop", "tiny-batches", "unfused", "cast-heavy"} else set()
    hidden |= {"tiny-batches"} if "sample-loop" in codes else {"unfused"} if "tiny-batches" in codes else set()
    return tuple(sorted((each for each in found if each.code not in hidden), key=lambda each: -each.share))


def slow_loader(seen: Seen) -> Iterator[Diagnosis]:
    share = seen.share("waiting for data")
    if share < LOADER:
        return
    evidence = f"waiting for data takes {seen.milliseconds(share)}"
    queued = seen.facts.queued
    if queued:
        empty = sum(rows < max(1, seen.facts.batch) for rows in queued)
        evidence += f"; {empty} of {len(queued)} times no whole batch was ready"
    slowest = max(seen.profile.pipeline, key=lambda stage: stage.seconds, default=None)
    if slowest is not None:
        evidence += f"; {slowest.name} adds {slowest.seconds * 1e3:.3g} ms a batch"
    advice = "make the slowest operation cheaper, give it more workers, or prepare the data once (MindRecord)"
    yield Diagnosis("slow-loader", "the loop waits for data", evidence, share, advice, ("workers", "prefetch"))


def recompiling(seen: Seen) -> Iterator[Diagnosis]:
    warm = seen.facts.warm
    late = [each for each in seen.profile.compilations if each.step > warm]
    share = seen.share("compile")
    if share < COMPILE and len({each.step for each in late}) < 3:
        return
    reasons = {re.sub(r"[\d(),' ]+", " ", each.reason).strip(): each for each in late}
    example = late[-1].reason if late else ""
    steps = len({each.step for each in late})
    evidence = f"compiled again in {steps} steps after the warm-up, {seen.milliseconds(share)}; the last time because: {example}"
    advice = {
        "new function object": "make the compiled function once, before the loop",
        "new shape": "pad to a few sizes, drop the remainder of a batch, or compile for dynamic shapes",
        "new value": "give the changing number as a Tensor: a Python number is compiled in",
    }
    said = next(
        (text for start, text in advice.items() if any(reason.startswith(start) for reason in reasons)),
        "keep arguments alike",
    )
    places = tuple(dict.fromkeys(each.place for each in late if each.place))
    yield Diagnosis("recompiling", "the graph is compiled again and again", evidence, share, said, ("dynamic",), places)


def reference_convolution(seen: Seen) -> Iterator[Diagnosis]:
    convolutions = [each for each in seen.profile.operators if each.name.startswith("Conv")]
    share = seen.part(convolutions)
    if share < CONVOLUTION or seen.facts.isa or seen.profile.device != "CPU" or not seen.facts.has_avx512:
        return
    known = [(work, each.seconds) for each in convolutions if (work := _work(each))]
    rate = sum(work for work, _ in known) / sum(seconds for _, seconds in known) if known else 0.0
    if rate > REFERENCE_RATE:
        return
    speed = f" at {rate:.2g} GFLOP/s" if rate else ""
    evidence = f"convolutions take {seen.milliseconds(share)}{speed}, on an AVX-512 host without ONEDNN_MAX_CPU_ISA"
    advice = "hold oneDNN to AVX2: its reference convolution is used otherwise"
    yield Diagnosis("reference-convolution", "convolutions run on reference code", evidence, share, advice, ("isa",))


def _work(each: Operator) -> float:
    """GFLOP of a forward convolution in a step, stride 1 assumed: an upper bound."""
    shapes = [
        [int(size) for size in text.split(",") if size.strip()] for text in re.findall(r"\[([\d, ]+)\]", each.shapes)
    ]
    if each.name != "Conv2D" or len(shapes) < 2 or len(shapes[0]) != 4 or len(shapes[1]) != 4 or not each.seconds:
        return 0.0
    (n, _, h, w), (out, inside, kh, kw) = shapes[0], shapes[1]
    return 2.0 * n * out * h * w * inside * kh * kw * each.calls / 1e9


def cast_heavy(seen: Seen) -> Iterator[Diagnosis]:
    working = [each for each in seen.profile.operators if each.phase != "optimizer"]
    casts = [each for each in working if each.name.startswith("Cast")]
    calls, every = sum(each.calls for each in casts), sum(each.calls for each in working) or 1
    kernel = sum(each.seconds for each in working) or 1e-12
    share = sum(each.seconds for each in casts) / kernel
    if (share < CAST and calls < 0.3 * every) or calls < 4:
        return
    evidence = f"{calls:.0f} of {every:.0f} operators of a step are casts, {share:.0%} of the time in operators"
    advice = "keep one type through the network (amp level O2 or O3, or no casts by hand), and give inputs in it"
    busy = seen.share("forward", "backward") * max(share, calls / every)
    yield Diagnosis("cast-heavy", "time goes into changing types", evidence, busy, advice, ("amp",), _modules(casts))


def sync_every_step(seen: Seen) -> Iterator[Diagnosis]:
    places = [(each.place, each.calls) for each in seen.facts.syncs if each.often > 0.8]
    calls, share = sum(count for _, count in places), seen.share("sync")
    if not places or (share < SYNC and calls < 5):
        return
    evidence = f"{calls:.0f} reads of a tensor in every step ({seen.milliseconds(share)} of copying): the host stops until the device is done"
    advice = "keep sums as tensors and read them every hundred steps; on a device this costs more than here"
    yield Diagnosis(
        "sync-every-step",
        "values are read back in every step",
        evidence,
        max(share, min(0.2, calls / 100)),
        advice,
        ("sync",),
        tuple(place for place, _ in places),
    )


def host_bound(seen: Seen) -> Iterator[Diagnosis]:
    share = seen.share("host")
    if share < HOST:
        return
    lines = seen.facts.lines
    where = ", ".join(f"{each.name} ({each.count:.0f} of {seen.facts.looks} looks)" for each in lines[:3])
    evidence = f"the script's own Python takes {seen.milliseconds(share)}" + (f"; most at {where}" if where else "")
    advice = "move it out of the loop, into the data pipeline, or into numpy"
    yield Diagnosis(
        "host-bound", "Python between the steps", evidence, share, advice, ("loop",), tuple(each.name for each in lines)
    )


def sample_loop(seen: Seen) -> Iterator[Diagnosis]:
    calls = seen.facts.calls
    module = next(iter(seen.facts.repeats), Counted("", 0.0))
    name, repeats = module.name, module.count
    most = max(calls, repeats)
    if most < 6:
        return
    share = seen.share("forward", "backward") * (1 - 1 / most)
    what = (
        f"the network is called {calls:.0f} times a step"
        if calls >= repeats
        else f"{name} runs {repeats:.0f} times a step"
    )
    evidence = f"{what}, {seen.milliseconds(seen.share('forward', 'backward'))}"
    advice = "give all samples at once: a loop over samples or positions launches the same operators many times"
    yield Diagnosis("sample-loop", "a Python loop around the network", evidence, share, advice, ("loop", "jit"))


def dispatch_bound(seen: Seen) -> Iterator[Diagnosis]:
    """Small operators: more time to launch them than in them."""
    share, busy = seen.share("forward", "backward"), seen.kernels("forward", "backward")
    calls = sum(each.calls for each in seen.operators("forward", "backward"))
    lost = share * (1 - busy)
    if calls and busy < BUSY and lost > 0.15:
        yield Diagnosis(
            "small-operators",
            "launching operators takes the time",
            _launching(seen),
            lost,
            "compile the step",
            ("jit", "graph"),
        )


def tiny_batches(seen: Seen) -> Iterator[Diagnosis]:
    """A few rows, and neither convolutions nor products of matrices have the time."""
    batch, share = seen.facts.batch, seen.share("forward", "backward")
    working = seen.operators("forward", "backward")
    kernels = sum(each.seconds for each in working)
    heavy = sum(each.seconds for each in working if HEAVY.match(each.name))
    if not 0 < batch <= TINY or share < 0.3 or heavy > 0.5 * max(kernels, share * seen.total * BUSY):
        return
    advice = "take larger batches (and scale the learning rate), or accumulate gradients over several"
    evidence = f"{batch} rows a batch: {_launching(seen)}; {heavy / kernels if kernels else 0:.0%} of that in convolutions and products"
    yield Diagnosis("tiny-batches", "batches too small to fill the machine", evidence, share, advice, ("batch", "jit"))


def _launching(seen: Seen) -> str:
    calls, busy = sum(each.calls for each in seen.operators("forward", "backward")), seen.kernels("forward", "backward")
    taken = seen.milliseconds(seen.share("forward", "backward"))
    return f"{calls:.0f} operators a step, {busy:.0%} of forward and backward ({taken}) inside them"


def slow_optimizer(seen: Seen) -> Iterator[Diagnosis]:
    share, count = seen.share("optimizer"), seen.facts.parameters
    if share < OPTIMIZER:
        return
    calls = sum(each.calls for each in seen.operators("optimizer"))
    evidence = f"the update takes {seen.milliseconds(share)}: {count} parameters, {calls:.0f} operators"
    advice = "fewer, larger parameters, or an optimizer whose update is one fused operator (nn.Adam, nn.Momentum) or a compiled step"
    yield Diagnosis(
        "slow-optimizer", "the update costs more than the network", evidence, share, advice, ("fused", "blocking")
    )


def unfused(seen: Seen) -> Iterator[Diagnosis]:
    working = seen.operators("forward", "backward")
    simple = [each for each in working if SIMPLE.match(each.name) and not each.name.startswith("Cast")]
    total, calls = sum(each.seconds for each in working) or 1e-12, sum(each.calls for each in simple)
    part, share = sum(each.seconds for each in simple) / total, seen.part(simple)
    if part < ELEMENTWISE or calls < 20 or share < 0.2:
        return
    evidence = f"{calls:.0f} element-wise operators and reductions a step have {part:.0%} of the time in operators"
    advice = "use the operator that does it in one (nn.LayerNorm, ops.softmax, ops.gelu, …), or compile with fusion (jit_level O1 on Ascend)"
    yield Diagnosis(
        "unfused", "many small operators instead of one", evidence, share, advice, ("jit", "fusion"), _modules(simple)
    )


def device_idle(seen: Seen) -> Iterator[Diagnosis]:
    share = seen.share("free")
    if share < HOST:
        return
    evidence = f"the device has nothing to do for {seen.milliseconds(share)}"
    empty = [stage.name for stage in seen.profile.pipeline if stage.queued < 0.1 * stage.capacity]
    evidence += f"; the queues behind {', '.join(empty)} run empty" if empty else ""
    advice = "let the device take whole epochs (data sinking), compile the step, or feed it faster"
    yield Diagnosis(
        "device-idle",
        "the device waits for the host",
        evidence,
        share,
        advice,
        ("sink", "jit", *(["workers"] if empty else [])),
    )


def communication_bound(seen: Seen) -> Iterator[Diagnosis]:
    share = seen.share("communication")
    if share >= HOST:
        evidence = f"communication that nothing overlaps takes {seen.milliseconds(share)}"
        yield Diagnosis(
            "communication-bound",
            "the device waits for other devices",
            evidence,
            share,
            "fuse gradients before they are reduced, or use larger batches",
            ("batch",),
        )


def _modules(operators: list[Operator]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.module for each in operators if each.module))[:3]


RULES: tuple[Rule, ...] = (
    slow_loader,
    recompiling,
    reference_convolution,
    cast_heavy,
    sync_every_step,
    host_bound,
    sample_loop,
    dispatch_bound,
    tiny_batches,
    slow_optimizer,
    unfused,
    device_idle,
    communication_bound,
)
