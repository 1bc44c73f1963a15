"""What the Trainer in one process does by the way: its optimizer, how many steps there are, which checkpoints stay."""

import inspect
import math
import os
import re
import shutil

import torch
from torch import nn

NOT_DECAYED = re.compile(r"bias|layernorm|rmsnorm|(?:^|\.)norm(?:$|\.)|_norm(?:$|\.)", re.IGNORECASE)


def optimizer_for(model: nn.Module, args, class_and_words=None):
    """The optimizer that the arguments name, or a given class: norms and biases do not decay."""
    plain = {
        f"{path}.{name}"
        for path, part in model.named_modules()
        if isinstance(part, nn.LayerNorm)
        for name in ("weight", "bias")
    }
    known = [(name, each) for name, each in model.named_parameters() if each.requires_grad]
    decayed = [each for name, each in known if name not in plain and not NOT_DECAYED.search(name)]
    others = [each for name, each in known if name in plain or NOT_DECAYED.search(name)]
    groups = [{"params": decayed, "weight_decay": args.weight_decay}, {"params": others, "weight_decay": 0.0}]
    groups = [each for each in groups if each["params"]]
    if class_and_words is not None:
        kind, words = class_and_words
        return kind(groups, **words)
    name = str(getattr(args.optim, "value", args.optim))
    if name.startswith("adamw"):
        betas = (args.adam_beta1, args.adam_beta2)
        return torch.optim.AdamW(groups, lr=args.learning_rate, betas=betas, eps=args.adam_epsilon)
    if name == "sgd":
        return torch.optim.SGD(groups, lr=args.learning_rate)
    if name == "adagrad":
        return torch.optim.Adagrad(groups, lr=args.learning_rate)
    raise NotImplementedError(f"optim={name}: give the Trainer an optimizer of your own, by optimizers=(…, None)")


def lengths(loader, args):
    """(batches of an epoch, steps of an epoch, epochs, steps of all); a stream of samples has no length: its steps are given."""
    share, most = args.gradient_accumulation_steps, args.max_steps
    try:
        batches = len(loader)
    except TypeError:
        if most <= 0:
            raise ValueError("a stream of samples has no length: set max_steps") from None
        return most * share, most, 2**31, most
    steps = max(math.ceil(batches / share), 1)
    epochs = math.ceil(most / steps if most > 0 else args.num_train_epochs)
    return batches, steps, epochs, most if most > 0 else math.ceil(args.num_train_epochs * steps)


def grouped(loader, size):
    """The batches of one step after the other."""
    kept = []
    for batch in loader:
        kept.append(batch)
        if len(kept) == size:
            yield kept
            kept = []
    if kept:
        yield kept


def look_at_network(trainer, network: nn.Module):
    """What its forward takes, which of that are labels, and whether its loss compares each place with the label of the next."""
    accepted, name = inspect.signature(network.forward).parameters, type(network).__name__
    trainer.signature = list(accepted)
    takes_any = any(each.kind == inspect.Parameter.VAR_KEYWORD for each in accepted.values())
    trainer.model_accepts_loss_kwargs = getattr(network, "accepts_loss_kwargs", takes_any)
    spans = ("start_positions", "end_positions") if "QuestionAnswering" in name else ()
    labels = [each for each in trainer.signature if "label" in each or each in spans]
    trainer.label_names = labels if trainer.args.label_names is None else trainer.args.label_names
    trainer.can_return_loss = "return_loss" in accepted and accepted["return_loss"].default is True
    is_causal = getattr(network, "loss_type", None) in ("ForCausalLM", "ForConditionalGeneration")
    is_paired = getattr(getattr(network, "config", None), "is_encoder_decoder", False)
    trainer.shifts_labels = is_causal and not is_paired
    trainer.smooths_shifted = name.endswith(("ForCausalLM", "LMHeadModel")) or trainer.shifts_labels
    known = inspect.signature(LabelSmoother.__call__).parameters  # older versions count all labels, and tell it not
    trainer.counts_compared = "num_items_in_batch" in known


def checkpoint_folders(root):
    """The checkpoints in a folder, the oldest first."""
    names = os.listdir(root) if os.path.isdir(root) else []
    found = [name for name in names if re.fullmatch(r"checkpoint-\d+", name)]
    return [os.path.join(root, name) for name in sorted(found, key=lambda name: int(name.rpartition("-")[2]))]


def remove_surplus(root, limit, best):
    """Only so many checkpoints stay, the last one and the best one in any case."""
    kept = checkpoint_folders(root)
    needed = {kept[-1], best or kept[-1]}
    surplus = max(len(kept) - max(limit, len(needed)), 0)
    for old in [each for each in kept if each not in needed][:surplus]:
        shutil.rmtree(old)
