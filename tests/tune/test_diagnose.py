"""Each rule names its cause from numbers alone, and keeps silent where the numbers are ordinary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mindferry.frameworks.requests import Plan, SyncPlace, TuneFacts
from mindferry.tune.clock import PLAIN, Clock
from mindferry.tune.diagnose import diagnose
from mindferry.tune.experiments import CATALOGUE, TRIED, suggest
from mindferry.tune.rewrites import REWRITES
from mindferry.tune.run import Run, apart, judge
from mindferry.tune.settings_file import SETTINGS, WHAT
from mindferry.tune.summary import divide_compiled
from mindferry.tune_record import Compilation, Operator, Phase, PipelineStage, Profile

SOUND = Profile(
    framework="MindSpore",
    device="CPU",
    steps=6,
    step_seconds=0.1,
    observed_seconds=0.1,
    phases=(
        Phase("waiting for data", 0.001),
        Phase("forward", 0.03, 0.029),
        Phase("backward", 0.06, 0.058),
        Phase("optimizer", 0.008, 0.007),
    ),
    operators=(
        Operator("MatMul", 0.028, 4, "[256, 512], [512, 512]", "fc1", "forward"),
        Operator("MatMul", 0.057, 8, "[256, 512], [512, 512]", "fc1", "backward"),
        Operator("Adam", 0.007, 8, "", "", "optimizer"),
    ),
)
FACTS = TuneFacts(batch=256, parameters=8, warm=2, calls=1.0, has_avx512=True)


def codes(profile: Profile, **facts: Any) -> list[str]:
    return [each.code for each in diagnose(profile, replace(FACTS, **facts))]


def phases(**seconds: float) -> tuple[Phase, ...]:
    names = {"data": "waiting for data"}
    return tuple(Phase(names.get(name, name), value, 0.9 * value) for name, value in seconds.items())


def test_a_sound_profile_has_no_diagnosis() -> None:
    assert codes(SOUND) == []


def test_waiting_for_data_is_a_slow_loader_and_says_which_operation() -> None:
    slow = replace(
        SOUND,
        phases=phases(data=0.2, forward=0.05, backward=0.05),
        pipeline=(PipelineStage("Map", 0.19), PipelineStage("Batch", 0.01)),
    )
    found = diagnose(slow, replace(FACTS, queued=(0, 0, 300)))
    assert found[0].code == "slow-loader"
    assert "Map adds 190 ms" in found[0].evidence and "2 of 3 times no whole batch was ready" in found[0].evidence


def test_compiling_late_is_recompiling_with_advice_for_its_reason() -> None:
    late = tuple(Compilation("step", "train.py:9", step, 0.3, "new function object") for step in range(1, 9))
    found = diagnose(replace(SOUND, compilations=late, phases=phases(compile=0.3, optimizer=0.01)), FACTS)[0]
    assert (found.code, found.places) == ("recompiling", ("train.py:9",))
    assert "once, before the loop" in found.advice


def test_compiling_in_the_warm_up_is_ordinary() -> None:
    assert codes(replace(SOUND, compilations=(Compilation("step", "", 1, 3.0, "first call"),))) == []


def test_convolutions_are_blamed_only_where_they_are_slow_and_unset() -> None:
    slow = replace(
        SOUND, operators=(Operator("Conv2D", 0.08, 1, "[8, 64, 16, 16], [64, 64, 3, 3]", "conv", "forward"),)
    )
    fast = replace(
        slow, operators=(replace(slow.operators[0], seconds=0.03),), phases=phases(forward=0.03, backward=0.01)
    )
    quick = replace(slow, operators=(replace(slow.operators[0], shapes="[64, 256, 32, 32], [256, 256, 3, 3]"),))
    assert codes(slow) == ["reference-convolution"]
    assert codes(slow, isa="AVX2") == []
    assert codes(slow, has_avx512=False) == []
    assert codes(quick) == codes(fast) == []


def test_a_loop_over_samples_hides_what_follows_from_it() -> None:
    small = tuple(Operator("Mul", 0.0004, 40, "", "net", phase) for phase in ("forward", "backward"))
    looped = replace(SOUND, operators=small, phases=(Phase("forward", 0.05, 0.01), Phase("backward", 0.05, 0.01)))
    assert codes(looped, calls=16.0, batch=1)[0] == "sample-loop"
    assert not {"small-operators", "tiny-batches"} & set(codes(looped, calls=16.0, batch=1))
    assert "small-operators" in codes(looped)


def test_reads_in_every_step_are_named_with_their_places() -> None:
    found = diagnose(
        SOUND, replace(FACTS, syncs=(SyncPlace("train.py:7", 12.0, 1.0), SyncPlace("train.py:9", 1.0, 0.1)))
    )
    assert (found[0].code, found[0].places) == ("sync-every-step", ("train.py:7",))


def test_one_read_of_the_loss_is_ordinary() -> None:
    assert codes(SOUND, syncs=(SyncPlace("train.py:7", 1.0, 1.0),)) == []


def test_a_compiled_span_is_divided_as_its_operators_and_the_rest_is_the_host() -> None:
    times = {"graph": 1.0, "optimizer": 0.2}
    divide_compiled(times, {"forward": 0.3, "backward": 0.5, "optimizer": 0.1})
    assert times == pytest.approx({"optimizer": 0.2, "forward": 0.3, "backward": 0.5, "host": 0.2})


def test_nested_spans_are_counted_once_and_borders_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = 0
    monkeypatch.setattr("mindferry.tune.clock.now", lambda: time)
    clock = Clock(Plan(warm=1, plain=2, observed=0, profiled=0), tmp_path)
    for number in range(3):
        with clock.span("backward"):
            time += 2_000_000_000
            with clock.span("forward"):
                time += 5_000_000_000
        time += 1_000_000_000
        clock.step.is_border = number == 1
        clock.step_done(lambda stage: None)
    assert clock.stage == "" and len(clock.measured(PLAIN)) == 1
    for step in clock.steps:
        assert (step.seconds, step.phases) == (8.0, {"forward": 5.0, "backward": 2.0})


def test_an_experiment_wins_only_if_it_is_faster_and_the_losses_are_the_same() -> None:
    suggestion = suggest(SOUND, (), set(), "p")[0]
    base = Run(1.0, 2.0, (2.0, 1.0))
    assert judge(suggestion, base, Run(0.5, 2.0, (2.0, 1.0005)), base, 1e-3)[0].status == "faster"
    assert judge(suggestion, base, Run(0.99, 2.0, (2.0, 1.0)), base, 1e-3)[0].status == "no faster"
    assert judge(suggestion, base, Run(0.5, 2.0, (2.0, 1.1)), base, 1e-3)[0].status == "losses differ"
    assert judge(suggestion, base, Run(0.5, 2.0, (2.0, float("nan"))), base, 1e-3)[0].status == "losses differ"
    unseen = Run(1.0, 2.0, (float("nan"),))
    assert judge(suggestion, unseen, Run(0.5, 2.0, (float("nan"),)), unseen, 1e-3)[0].status == "losses differ"
    assert apart((2.0, 4.0), (2.0, 4.4, 9.0)) == pytest.approx(0.1)


def test_what_needs_ascend_is_listed_as_untested_with_its_command() -> None:
    found = {each.name: each for each in suggest(SOUND, (), set(), "build/net_ms")}
    for name in ("amp", "sink", "fusion"):
        assert found[name].status == "untested here" and "mindferry tune build/net_ms" in found[name].command


def test_what_is_applied_is_not_suggested_again() -> None:
    assert "blocking" not in {each.name for each in suggest(SOUND, (), {"blocking"}, "p")}


def test_every_experiment_that_is_tried_has_a_change_and_every_change_an_experiment() -> None:
    assert set(TRIED) == set(REWRITES) | set(SETTINGS)
    assert set(WHAT) == set(SETTINGS)
    assert len({each.name for each in CATALOGUE}) == len(CATALOGUE)
