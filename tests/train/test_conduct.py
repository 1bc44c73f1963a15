"""What a script does besides its steps: modes, printed figures, checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mindferry.train.conduct import (
    OURS,
    SAVED,
    Loops,
    Saves,
    called_in,
    listening,
    other_figures,
    other_loops,
    other_modes,
    other_saves,
    saved_tensors,
)
from mindferry.train.exchange import Exchange, leaves

LINE = "epoch 0: loss 1.0989, accuracy 0.350"
WEIGHT = np.linspace(0.1, 0.9, 8, dtype=np.float32)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (LINE, LINE),
        (LINE, "epoch 0: loss 1.0990, accuracy 0.350"),
        ("loss 2.30 in 12 ms, 3.1 it/s", "loss 2.31 in 99 ms, 0.4 it/s"),
        ("test loss: 1.2e-05", "test loss: 1.21e-05"),
        ("seed 3 of 5", "seed 4 of 5"),
        ("loss on cuda 1.5", "loss on CPU 1.7"),
        (
            "{'eval_loss': '1.10', 'eval_samples_per_second': '58.02', 'train_steps_per_second': 0.868}",
            "{'eval_loss': '1.10', 'eval_samples_per_second': '12.61', 'train_steps_per_second': 0.459}",
        ),
    ],
)
def test_figures_within_rounding_times_and_other_words_are_left_alone(theirs: str, ours: str) -> None:
    assert list(other_figures([theirs], [ours])) == []


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (LINE, "epoch 0: loss 1.0989, accuracy 0.400"),
        (LINE, "epoch 0: loss 1.1989, accuracy 0.350"),
        ("Accuracy: 3/20 (15%)", "Accuracy: 4/20 (15%)"),
        ("{'sampling_time_loss': '1.10'}", "{'sampling_time_loss': '1.20'}"),
    ],
)
def test_a_figure_that_is_another_is_listed(theirs: str, ours: str) -> None:
    (said,) = other_figures(["start", theirs], ["start", ours])
    assert theirs in said and ours in said


def test_the_second_line_of_the_same_words_is_held_against_the_second() -> None:
    assert list(other_figures(["loss 1.0", "loss 2.0"], ["loss 1.0", "loss 2.0"])) == []
    assert len(list(other_figures(["loss 1.0", "loss 2.0"], ["loss 1.0", "loss 3.0"]))) == 1


def test_a_mode_in_which_only_the_reference_calls_is_listed() -> None:
    both = [called_in("Net", True), called_in("Net", False)]
    assert list(other_modes(both, both)) == []
    (said,) = other_modes([*both, called_in("Head", True)], both[:1])
    assert said == "modes: the original calls Net in eval mode, the conversion never does"


def test_a_loop_that_reads_another_loader_again_is_listed() -> None:
    train, test = [1], [2]
    theirs, ours = Loops(), Loops()
    for one, other in ((train, train), (test, train), (train, train)):
        theirs.add(one)
        ours.add(other)
    assert list(other_loops(theirs.numbers, theirs.numbers)) == []
    assert list(other_loops(ours.numbers, theirs.numbers)) == []  # two objects for one loader: the batches tell
    assert len(list(other_loops(theirs.numbers, ours.numbers))) == 1


def test_what_is_printed_is_kept_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with listening() as lines:
        print("loss", 1.5, end="")
        print(" in step 2")
    assert lines == ["loss 1.5 in step 2"] and capsys.readouterr().out == "loss 1.5 in step 2\n"


@pytest.mark.parametrize(("apart", "is_listed"), [(1e-5, False), (1e-2, True)])
def test_a_saved_tensor_that_is_another_is_listed(tmp_path: Path, apart: float, is_listed: bool) -> None:
    weight = np.random.default_rng(3).normal(size=(5, 7)).astype(np.float32)
    held = {"net": {"a": weight, "steps": np.array(3)}, "more": [weight * 2]}
    exchange = Exchange(tmp_path)
    Saves(exchange, SAVED).keep(dict(saved_tensors(held, "dtype")))
    held["net"] = {"a": weight * (1 + apart), "steps": np.array(3)}
    Saves(exchange, OURS).keep(dict(saved_tensors(held, "dtype")))
    found = list(other_saves(exchange, [1e-5]))
    assert found == (["checkpoints: net.a is another tensor in what the script saves"] if is_listed else [])
    assert list(other_saves(exchange, [1e-2])) == []  # the weights themselves have parted


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        ({"net": {"a": WEIGHT}, "epoch": 3, "best": 0.5001, "time": 7.0}, ""),
        ({"net": {"a": WEIGHT}, "epoch": 2, "best": 0.5, "time": 1.0}, "epoch is 3 in what the original saves, 2 here"),
        ({"net": {"a": WEIGHT}, "best": 0.5}, "the original saves epoch, and the conversion does not"),
        ({"net": {}, "epoch": 3, "best": 0.5}, "net holds tensors in what the original saves, and none here"),
        ([{"name": "a", "data": WEIGHT}], ""),  # another kind of file, with no such entries
    ],
)
def test_numbers_and_empty_parts_of_a_checkpoint_are_told(tmp_path: Path, ours: object, told: str) -> None:
    exchange = Exchange(tmp_path)
    theirs = {"net": {"a": WEIGHT}, "epoch": 3, "best": 0.5, "time": 1.0}
    for name, held in ((SAVED, theirs), (OURS, ours)):
        Saves(exchange, name).keep(dict(saved_tensors(held, "dtype")), held)
    assert list(other_saves(exchange, [1e-5])) == ([f"checkpoints: {told}"] if told else [])


@pytest.mark.parametrize(("score", "told"), [(0.5, 0), (0.7, 1)])
def test_files_of_one_name_are_held_against_each_other_whatever_is_saved_between(
    tmp_path: Path, score: float, told: int
) -> None:
    exchange = Exchange(tmp_path)
    theirs, ours = Saves(exchange, SAVED), Saves(exchange, OURS)
    for step in (2, 4):
        theirs.keep({}, {"seed": 42, "steps": 8}, f"out/{step}/training_args.bin")
        for side, best, end in ((theirs, 0.5, "pt"), (ours, score if step == 4 else 0.5, "ckpt")):
            side.keep({"a": WEIGHT}, {"best": best, "epoch": step}, f"out/{step}/model-{best}.{end}")
            own = {"_is_initial": False} if side is theirs else {}
            side.keep({}, {"last_epoch": step, **own}, Path(f"out/{step}/scheduler.{end}"))
    assert len(list(other_saves(exchange, [1e-5]))) == told


class Settings(dict):  # type: ignore[type-arg]
    """As many projects have one: what it does not hold is a KeyError, not an AttributeError."""

    __getattr__ = dict.__getitem__


class Loose(dict):  # type: ignore[type-arg]
    """Or it is None, whatever is asked for."""

    __getattr__ = dict.get


@pytest.mark.parametrize("kind", [Settings, Loose])
def test_what_a_record_answers_to_any_name_makes_no_tensor_of_it(kind: type) -> None:
    held = {"cfg": kind(lr=kind(base=0.1)), "net": {"w": np.ones(3)}}
    assert [way for way, _ in saved_tensors(held, "dtype")] == ["net.w"]
    assert list(leaves([kind(size=3)], "detach")) == []
