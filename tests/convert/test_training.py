"""Training loops: what is lifted, what is kept where it stands, what is refused."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = """import torch
import torch.nn as nn

class Net(nn.Module):
    def forward(self, x):
        return x

model, teacher = Net(), Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def loop(body: str) -> str:
    """The converted text from the loop's preparation on."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    result = convert_source(f"{HEAD}\nfor x, y in loader:\n{indented}").main
    return result[result.index("lr=0.1)") + len("lr=0.1)") :].strip()


def test_the_plain_step_becomes_mindspore_s_own_form() -> None:
    assert loop("optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()  # update") == (
        "def forward_fn(x, y):\n"
        "    loss = criterion(model(x), y)\n"
        "    return loss\n"
        "\n"
        "grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)\n"
        "for x, y in loader:\n"
        "    loss, grads = grad_fn(x, y)\n"
        "    optimizer(grads)  # update"
    )


def test_what_is_used_after_the_step_comes_back_from_the_function() -> None:
    text = loop("optimizer.zero_grad()\nout = model(x)\nloss = criterion(out, y)\nloss.backward()\noptimizer.step()\nprint(out, loss)")
    assert "    return loss, out\n" in text and "(loss, out), grads = grad_fn(x, y)" in text and "has_aux=True" in text


def test_preparation_of_the_data_stays_in_the_loop() -> None:
    text = loop("x = x * 2\noptimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()")
    assert "for x, y in loader:\n    x = x * 2\n    loss, grads = grad_fn(x, y)" in text


def test_clipping_acts_on_the_gradients() -> None:
    text = loop(
        "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\nnn.utils.clip_grad_norm_(model.parameters(), 1.0)\noptimizer.step()"
    )
    assert "loss, grads = grad_fn(x, y)\n    grads = ops.clip_by_global_norm(grads, 1.0)\n    optimizer(grads)" in text


def test_without_zero_grad_gradients_accumulate_as_in_torch() -> None:
    text = loop("loss = criterion(model(x), y)\nloss.backward()\noptimizer.step()")
    assert "loss = ms_compat.backward(forward_fn, model.trainable_params(), x, y)\n    ms_compat.apply_gradients(optimizer)" in text


def test_a_step_every_few_batches_keeps_its_condition() -> None:
    text = loop("loss = criterion(model(x), y) / 4\nloss.backward()\nif step % 4 == 0:\n    optimizer.step()\n    optimizer.zero_grad()")
    assert "if step % 4 == 0:\n        ms_compat.apply_gradients(optimizer)\n        ms_compat.clear_gradients(optimizer)" in text


def test_a_detached_value_is_an_input_not_part_of_the_graph() -> None:
    text = loop("t = teacher(x)\noptimizer.zero_grad()\nloss = criterion(model(x), t.detach())\nloss.backward()\noptimizer.step()")
    assert "def forward_fn(x, t):" in text and "t = teacher(x)\n    loss, grads = grad_fn(x, t)" in text


def test_two_losses_of_one_graph_are_differentiated_as_their_sum() -> None:
    text = loop(
        "optimizer.zero_grad()\nout = model(x)\na = out.mean()\nb = criterion(out, y)\na.backward(retain_graph=True)\nb.backward()\noptimizer.step()"
    )
    assert "return a + b" in text and text.count("ms_compat.backward(") == 1


def test_an_overwritten_name_does_not_drag_earlier_statements_along() -> None:
    text = loop(
        "out = teacher(x)\nprint(out)\nout = model(x)\noptimizer.zero_grad()\nloss = criterion(out, y)\nloss.backward()\noptimizer.step()"
    )
    assert "def forward_fn(x, y):\n    out = model(x)\n    loss" in text


@pytest.mark.parametrize(
    "body, reason",
    [
        ("loss.backward()\noptimizer.step()", "where loss is computed can't be seen from here"),
        ("loss = criterion(model(x), y)\nloss.backward(torch.ones(2))\noptimizer.step()", "it takes a gradient as argument"),
        ("loss = criterion(model(x), y)\nloss.backward(create_graph=True)\noptimizer.step()", "create_graph keeps the graph"),
    ],
)
def test_what_cannot_be_lifted_is_left_with_a_finding_that_shows_the_pattern(body: str, reason: str) -> None:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    conversion = convert_source(f"{HEAD}\nfor x, y, loss in loader:\n{indented}")
    (finding,) = [each for each in conversion.findings if each.code == "MF201"]
    assert reason in finding.message and "value_and_grad" in finding.advice
    assert ".backward(" in conversion.main


def test_a_step_inside_a_method_lifts_there() -> None:
    text = convert_source(
        HEAD
        + """
class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())

    def step(self, batch, target):
        self.opt.zero_grad()
        loss = criterion(self.net(batch), target)
        loss.backward()
        self.opt.step()
        return loss.item()

Trainer(model)
"""
    ).main
    assert (
        "        grad_fn = ms.value_and_grad(forward_fn, None, self.opt.parameters)\n        loss, grads = grad_fn(batch, target)\n        self.opt(grads)"
        in text
    )


def test_clearing_between_forward_and_backward_still_comes_before_the_gradients() -> None:
    text = loop(
        "out = model(x)\noptimizer.zero_grad()\na = out.mean()\na.backward(retain_graph=True)\nb = criterion(out, y)\nb.backward()\noptimizer.step()"
    )
    assert text.count("clear_gradients") == 1
    assert text.index("clear_gradients(optimizer)") < text.index("ms_compat.backward(") < text.index("apply_gradients(optimizer)")


def test_what_gets_the_network_before_the_step_finds_gradients_on_its_parameters() -> None:
    for between in ("torch.nn.utils.clip_grad_value_(model.parameters(), 0.1)", "log_gradients(model)", "clip(optimizer, 5)"):
        text = loop(f"optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\n{between}\noptimizer.step()")
        assert "ms_compat.backward(" in text and "apply_gradients(optimizer)" in text, between


def test_a_network_whose_train_is_never_called_is_made_in_training_mode() -> None:
    body = "for x, y in loader:\n    optimizer.zero_grad()\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n"
    start = HEAD.replace("model, teacher = Net(), Net()", "model = Net()")
    assert "model = Net().set_train()" in convert_source(start + body).main
    assert "model = Net()\n" in convert_source(start + "model.train()\n" + body).main
