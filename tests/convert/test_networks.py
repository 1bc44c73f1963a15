"""Networks that come as arguments, attributes or from elsewhere are told by calls, by methods and by names."""

from __future__ import annotations

from typing import Any

import pytest

from mindferry import convert_source

HEAD = "import torch\nfrom torch import nn, optim\n\n"
TWO = "class A(nn.Module):\n    pass\n\nclass B(nn.Module):\n    pass\n\n"


def converted(code: str) -> str:
    return convert_source(HEAD + code).main


def warnings(code: str) -> list[str]:
    return [each.message for each in convert_source(HEAD + code).findings if each.severity == "warning"]


def test_an_argument_that_is_given_networks_of_two_classes_is_a_network() -> None:
    assert "    x.set_train(False)\n" in converted(f"{TWO}def score(x):\n    x.eval()\n\nscore(A())\nscore(B())\n")


def test_an_argument_that_is_given_a_network_and_something_unknown_is_a_network() -> None:
    assert "    x.set_train(False)\n" in converted(f"{TWO}def score(x):\n    x.eval()\n\nscore(A())\nscore(build())\n")


@pytest.mark.parametrize(
    "name", ["model", "self.netG", "student_model", "nets['a']", "agent.policy_net", "myNet", "model.module"]
)
def test_a_name_tells_a_network(name: str) -> None:
    text = converted(
        f"def step(self, model, agent, nets, myNet, student_model):\n    {name}.train()\n    {name}.eval()\n"
    )
    assert f"    {name}.set_train()\n    {name}.set_train(False)\n" in text


def test_named_parameters_tell_a_network_in_a_file_without_torch() -> None:
    text = convert_source(
        "class Average:\n    def __init__(self, thing):\n        self.thing = thing\n\n    def names(self):\n"
        "        return [name for name, p in self.thing.named_parameters()]\n"
    ).main
    assert "ms_compat.named_parameters(self.thing)" in text


def test_an_optimizer_is_given_a_network_s_parameters_whatever_its_name() -> None:
    assert "SGD(thing.trainable_params(), lr=0.1)" in converted(
        "def build(thing):\n    return optim.SGD(thing.parameters(), lr=0.1)\n"
    )


@pytest.mark.parametrize("call", ["model.train(10)", "model.eval('x + 1')", "Trainer().train()", "trainer.train(lr=3)"])
def test_what_is_no_network_s_call_stays_without_a_word(call: str) -> None:
    code = f"class Trainer:\n    def train(self):\n        return 1\n\ndef go(model, trainer):\n    {call}\n"
    assert call in converted(code) and warnings(code) == []


def test_what_has_train_and_may_be_a_network_or_the_project_s_own_is_asked_when_it_runs() -> None:
    conversion = convert_source(
        f"{HEAD}class Model:\n    def train(self):\n        return 1\n\ndef go(model):\n    return model.train()\n"
    )
    assert "return ms_compat.any_train(model)\n" in conversion.main
    values: dict[str, Any] = {}
    exec(conversion.code, values)
    assert values["go"](values["Model"]()) == 1


def test_what_may_be_a_network_is_asked_when_it_runs() -> None:
    assert "ms_compat.any_eval(thing)" in converted("def go(thing):\n    thing.eval()\n")
    assert warnings("def go(thing):\n    thing.eval()\n") == []


def test_autocast_in_a_variable_is_a_context_that_does_nothing() -> None:
    conversion = convert_source(
        "import torch\nfrom contextlib import nullcontext\n\n"
        "context = nullcontext() if plain else torch.amp.autocast(device_type='cuda')\nwith context:\n    done = True\n"
    )
    assert [each.severity for each in conversion.findings] == ["note"]
    values: dict[str, object] = {"plain": False}
    exec(conversion.code, values)
    assert values["done"] is True
