"""Guesses from names, one predicate each."""

from __future__ import annotations

import ast

import pytest

from mindferry.read import guesses

YES = {
    guesses.looks_like_network: ["model", "netG", "student_model", "policy", "ResNet50", "encoder2", "unet_ema"],
    guesses.looks_like_trainer: ["trainer", "self.runner", "learner"],
    guesses.looks_like_optimizer: ["opt", "self.optimizer_g", "Optim", "D_solver"],
    guesses.looks_like_optimizer_wrapper: ["self.optim_schedule"],
    guesses.looks_like_keeper_of_steps: [
        "optimizer",
        "optimizer_g",
        "optimizerD",
        "lr_scheduler",
        "grad_scaler",
        "optim2",
    ],
    guesses.looks_like_loss: ["criterion", "self.gan_loss", "LossFn"],
    guesses.looks_like_accelerator: ["accelerator", "my_Accelerator", "fabric"],
    guesses.looks_like_parameter: ["p", "param", "parameters"],
    guesses.looks_like_loader: ["train_loader", "Dataset", "val_dataset"],
    guesses.looks_like_collate: ["collate_fn", "PadCollate"],
    guesses.looks_like_detaching: ["x.detach_all", "repackage_hidden"],
    guesses.looks_like_class: ["Model", "QNetwork"],
    guesses.looks_like_space: ["action_space", "single_action_space"],
    guesses.looks_like_mode: ["mode", "training", "was_training", "is_train", "old_mode", "training_state"],
}
NO = {
    guesses.looks_like_network: ["batch", "netted", "planet", "x", "magnetic"],
    guesses.looks_like_trainer: ["model", "net"],
    guesses.looks_like_optimizer: ["scheduler", "opt_scheduler", "model"],
    guesses.looks_like_optimizer_wrapper: ["scheduler"],
    guesses.looks_like_keeper_of_steps: ["model", "optimal", "opt_net", "scale", "ema"],
    guesses.looks_like_loss: ["model", "output"],
    guesses.looks_like_accelerator: ["fabrics", "player"],
    guesses.looks_like_parameter: ["x", "pp", "weight"],
    guesses.looks_like_loader: ["batch", "load"],
    guesses.looks_like_collate: ["batch_fn"],
    guesses.looks_like_detaching: ["attach"],
    guesses.looks_like_class: ["G", "netG", "model"],
    guesses.looks_like_space: ["spaces", "batch"],
    guesses.looks_like_mode: ["loader", "train", "train_data", "modes", "trainings", "model"],
}


@pytest.mark.parametrize("guess", YES, ids=lambda each: each.__name__)
def test_a_guess_takes_what_it_is_for_and_leaves_the_rest(guess) -> None:
    assert [name for name in YES[guess] if not guess(name)] == []
    assert [name for name in NO[guess] if guess(name)] == []


def test_every_guess_is_tested() -> None:
    assert (
        {each.__name__ for each in YES}
        == {name for name in vars(guesses) if name.startswith("looks_like_")}
        == {each.__name__ for each in NO}
    )


@pytest.mark.parametrize(
    ("code", "name"), [("model", "model"), ("self.netG", "netG"), ("nets['a'][0]", "nets"), ("f()", ""), ("1 + x", "")]
)
def test_the_name_of_an_expression_is_its_last(code: str, name: str) -> None:
    assert guesses.name_of(ast.parse(code, mode="eval").body) == name


@pytest.mark.parametrize(
    ("name", "of", "expected"),
    [
        ("loss_scaler", "NativeScalerWithNorm", True),
        ("self.scaler", "Scaler", True),
        ("criterion", "Scaler", False),
        ("self.scaler.scale", "Scaler", False),
        ("f", "F", False),
    ],
)
def test_an_object_is_named_like_its_class(name: str, of: str, expected: bool) -> None:
    assert guesses.may_be_instance(name, of) == expected
