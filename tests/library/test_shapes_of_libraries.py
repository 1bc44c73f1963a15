"""Shapes of code that libraries are written in: decorators that set a network's mode, abstract classes of layers."""

from __future__ import annotations

from pathlib import Path

from installed_packages import project, run_without

from mindferry.convert import convert_project

CODE = """
    from abc import ABC, abstractmethod

    import torch
    import torch.nn as nn

    def while_evaluating(function):
        def inner(self, *args):
            was_training = self.training
            self.eval()
            found = function(self, *args)
            self.train(was_training)
            return found
        return inner

    def set_phase(thing, phase):
        thing.train(phase == "train")

    class Stack(nn.Sequential, ABC):
        @abstractmethod
        def kind(self): ...

        @while_evaluating
        def dropped(self, x):
            return bool((self(x) == 0).any())

    class Dropping(Stack):
        def kind(self):
            return "dropping"

    net = Dropping(nn.Dropout(0.9))
    net.train()
    x = torch.ones(50)
    seen = [net.dropped(x), net.training, bool((net(x) == 0).any())]
    set_phase(net, "valid")
    seen += [net.training, isinstance(net, nn.Sequential), issubclass(Dropping, ABC)]
    print(seen)
    """


def test_a_decorator_sets_the_mode_and_a_class_of_layers_is_abstract(tmp_path: Path) -> None:
    source = project(tmp_path / "mine", {"main.py": CODE})
    convert_project(source, tmp_path / "out")
    got = run_without(set(), tmp_path / "out", "import main")
    assert eval(got) == [False, True, True, False, True, True]
