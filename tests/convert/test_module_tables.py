"""A module of torch's as a value: its optimizers and schedulers, which a configuration chooses by name, are all there."""

from __future__ import annotations

from two_frameworks import Both, plain, same

from mindferry.convert import convert_source

CODE = """
import torch.optim as optim
from torch.optim import lr_scheduler

class Config:
    def __init__(self, body):
        self.body = body
    def init_obj(self, name, module, *args, **kwargs):
        return getattr(module, self.body[name]["type"])(*args, **dict(self.body[name]["args"], **kwargs))

class Trainer:
    def __init__(self, model, optimizer, scheduler=None):
        self.model, self.optimizer, self.scheduler = model, optimizer, scheduler
    def run(self, x, y):
        losses = []
        for _ in range(3):
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            if self.scheduler is not None:
                self.scheduler.step()
            losses.append(loss.item())
        return losses

def net():
    model = nn.Linear(6, 1)
    nn.init.constant_(model.weight, 0.2); nn.init.constant_(model.bias, 0.1)
    return model

def by_name(name, model):
    if not hasattr(optim, name):
        return None
    return getattr(optim, name)(model.parameters(), lr=0.05)

def run():
    x, y, seen = torch.from_numpy(X), torch.ones(4, 1), []
    for kind, args in (("SGD", {"lr": 0.1, "momentum": 0.9}), ("RMSprop", {"lr": 0.01})):
        model = net()
        config = Config({"optimizer": {"type": kind, "args": args}, "lr": {"type": "StepLR", "args": {"step_size": 2}}})
        optimizer = config.init_obj("optimizer", torch.optim, filter(lambda p: p.requires_grad, model.parameters()))
        scheduler = config.init_obj("lr", torch.optim.lr_scheduler, optimizer, gamma=0.5)
        seen.append([Trainer(model, optimizer, scheduler).run(x, y), optimizer.param_groups[0]["lr"]])
    for kind in ["AdamW", "Adagrad"]:
        model = net()
        seen.append(Trainer(model, by_name(kind, model)).run(x, y))
    return [seen, by_name("Nothing", net()) is None]
"""


def test_an_optimizer_is_chosen_from_a_module_that_was_handed_over(both: Both) -> None:
    theirs, ours = both(CODE)
    assert same(plain(ours), plain(theirs))


def test_a_module_of_functions_too_or_of_very_much_is_no_table() -> None:
    assert [each.code for each in convert_source("import torch\nuse(torch.nn)\nuse(torch.nn.utils)\n").findings] == [
        "MF102"
    ] * 2
