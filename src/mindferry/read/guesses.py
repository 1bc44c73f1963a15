"""Guesses from a name alone. Used only where a wrong guess is loud: it leaves a finding, or code that fails at once."""

from __future__ import annotations

import ast
import functools
import re

_WORDS = "model|net|network|module|backbone|encoder|decoder|generator|discriminator|critic|actor|teacher|student|classifier|policy|unet|vae|gan"
_NETWORK = re.compile(rf"(?:.*_)?(?:{_WORDS})s?\d*(?:_.*)?|net[A-Z0-9]\w*|\w*[a-z](?:Net|Model)\d*")
_KEEPER = re.compile(r"(?:\w*_)?(?:optim(?:izer)?|scheduler|scaler)s?(?:_?[a-z]|_\w+)?\d*")
_MODE = re.compile(r"(?:\w+_)?(?:mode|training)(?:_(?:mode|state|flag))?|_*(?:is|was|in|do)_train")
_TRAINERS = ("train", "fit", "run", "learn")


def name_of(node: ast.AST) -> str:
    """The last name of `model`, `self.netG`, `nets["a"]`; '' of anything else."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


@functools.lru_cache(maxsize=16384)
def looks_like_network(name: str) -> bool:
    """`model`, `netG`, `student_model`, `policy`, `ResNet50`."""
    return _NETWORK.fullmatch(name) is not None or _NETWORK.fullmatch(name.lower()) is not None


def looks_like_space(name: str) -> bool:
    """`action_space`, `envs.single_action_space`: of gym's environments."""
    return name.lower().endswith("space")


def looks_like_class(name: str) -> bool:
    """`Model`, `QNetwork`; not `G`, nor `netG`."""
    return name[:1].isupper() and any(each.islower() for each in name)


def looks_like_trainer(text: str) -> bool:
    """`trainer`, `runner`, `learner`: its train() is its own."""
    return any(word in text.lower() for word in _TRAINERS)


def looks_like_optimizer(text: str) -> bool:
    """`opt`, `self.optimizer_g`, `optim`, `D_solver`; not `opt_scheduler`."""
    words = text.lower()
    return ("opt" in words or "solver" in words) and "sched" not in words


def looks_like_keeper_of_steps(name: str) -> bool:
    """`optimizer_g`, `lr_scheduler`, `scaler`: no network is called so, and each has a state of its own."""
    return _KEEPER.fullmatch(name.lower()) is not None


def looks_like_optimizer_wrapper(text: str) -> bool:
    """`optim_schedule`: something that steps an optimizer among other things."""
    return "opt" in text.lower()


def looks_like_loss(name: str) -> bool:
    """`criterion`, `loss_fn`, `self.gan_loss`."""
    return "criterion" in name.lower() or "loss" in name.lower()


def looks_like_accelerator(name: str) -> bool:
    """`accelerator`, `fabric`: objects whose backward() takes the loss."""
    return "accelerator" in name.lower() or name.lower() == "fabric"


def looks_like_parameter(name: str) -> bool:
    """`p`, `param`, `parameters`."""
    return name == "p" or "param" in name


def looks_like_loader(name: str) -> bool:
    """`train_loader`, `self.dataset`: going through it makes new tensors."""
    return "loader" in name.lower() or "dataset" in name.lower()


def looks_like_collate(name: str) -> bool:
    """`collate_fn`, `PadCollate`: what a loader calls with a list of samples."""
    return "collate" in name.lower()


def looks_like_detaching(text: str) -> bool:
    """`detach_all`, `repackage_hidden`: its result has no gradient."""
    return "detach" in text.lower() or "repackage" in text.lower()


def looks_like_mode(name: str) -> bool:
    """`mode`, `was_training`, `is_train`: a variable that says whether a network trains."""
    return _MODE.fullmatch(name) is not None


def may_be_instance(name: str, of: str) -> bool:
    """Whether `self.loss_scaler` may be an object of `NativeScalerWithCount`: the last word of its name is one of the class's."""
    words, own = (re.findall(r"[A-Z]?[a-z]+", each) for each in (name.rpartition(".")[2], of))
    return bool(words) and words[-1].lower() in {each.lower() for each in own}
