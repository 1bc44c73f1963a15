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
    assert loop(
        "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()  # update"
    ) == (
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
    text = loop(
        "optimizer.zero_grad()\nout = model(x)\nloss = criterion(out, y)\nloss.backward()\noptimizer.step()\nprint(out, loss)"
    )
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
    assert (
        "loss = ms_compat.backward(forward_fn, model.trainable_params(), x, y)\n    ms_compat.apply_gradients(optimizer)"
        in text
    )


def test_a_step_every_few_batches_keeps_its_condition() -> None:
    text = loop(
        "loss = criterion(model(x), y) / 4\nloss.backward()\nif step % 4 == 0:\n    optimizer.step()\n    optimizer.zero_grad()"
    )
    assert (
        "if step % 4 == 0:\n        ms_compat.apply_gradients(optimizer)\n        ms_compat.clear_gradients(optimizer)"
        in text
    )


def test_a_detached_value_is_an_input_not_part_of_the_graph() -> None:
    text = loop(
        "t = teacher(x)\noptimizer.zero_grad()\nloss = criterion(model(x), t.detach())\nloss.backward()\noptimizer.step()"
    )
    assert "def forward_fn(x, t):" in text and "t = teacher(x)\n    loss, grads = grad_fn(x, t)" in text


def test_two_losses_of_one_graph_are_differentiated_as_their_sum() -> None:
    text = loop(
        "optimizer.zero_grad()\nout = model(x)\na = out.mean()\nb = criterion(out, y)\na.backward(retain_graph=True)\nb.backward()\noptimizer.step()"
    )
    assert "return a + b" in text and "    _, grads = grad_fn(x, y)\n    optimizer(grads)" in text


def test_an_overwritten_name_does_not_drag_earlier_statements_along() -> None:
    text = loop(
        "out = teacher(x)\nprint(out)\nout = model(x)\noptimizer.zero_grad()\nloss = criterion(out, y)\nloss.backward()\noptimizer.step()"
    )
    assert "def forward_fn(x, y):\n    out = model(x)\n    loss" in text


@pytest.mark.parametrize(
    "body, reason",
    [
        ("loss.backward()\noptimizer.step()", "where loss is computed can't be seen from here"),
        (
            "loss = criterion(model(x), y)\nloss.backward(*given)\noptimizer.step()",
            "its arguments can't be told",
        ),
        (
            "loss = criterion(model(x), y)\nloss.backward(create_graph=True)\noptimizer.step()",
            "create_graph may keep the graph",
        ),
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
        "out = model(x)\noptimizer.zero_grad()\na = out.mean()\na.backward(retain_graph=True)\nb = criterion(out, y)\nb.backward()\nclip(optimizer, 5)\noptimizer.step()"
    )
    assert text.count("clear_gradients") == 1
    assert (
        text.index("clear_gradients(optimizer)")
        < text.index("ms_compat.backward(")
        < text.index("apply_gradients(optimizer)")
    )


def test_what_gets_the_network_before_the_step_finds_gradients_on_its_parameters() -> None:
    for between in (
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1, norm_type=1)",
        "log_gradients(model)",
        "clip(optimizer, 5)",
    ):
        text = loop(
            f"optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\n{between}\noptimizer.step()"
        )
        assert "ms_compat.backward(" in text and "apply_gradients(optimizer)" in text, between


def test_a_network_whose_train_is_never_called_is_made_in_training_mode() -> None:
    body = "for x, y in loader:\n    optimizer.zero_grad()\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n"
    start = HEAD.replace("model, teacher = Net(), Net()", "model = Net()")
    assert "model = Net().set_train()" in convert_source(start + body).main
    assert "model = Net()\n" in convert_source(start + "model.train()\n" + body).main


def findings(body: str, head: str = HEAD) -> list[tuple[int, str, str]]:
    """(line in the body, message, advice) of each backward() that was left."""
    first = head.count("\n") + 1
    return [
        (each.line - first + 1, each.message, each.advice)
        for each in convert_source(head + body).findings
        if each.code == "MF201"
    ]


RECURRENT = """hidden = torch.zeros(2, 3)
for x, y in loader:
    out, hidden = model(x, hidden)
    loss = criterion(out, y)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
"""


def test_a_hidden_state_that_is_never_detached_is_left_and_its_line_named() -> None:
    ((line, message, advice),) = findings(RECURRENT)
    assert line == 6 and "hidden (line 13) carries the graph of earlier iterations" in message
    assert "h = h.detach()" in advice and "def forward_fn(xs, h)" in advice
    assert "loss.backward(retain_graph=True)" in convert_source(HEAD + RECURRENT).main


@pytest.mark.parametrize(
    "cut",
    [
        "    hidden = hidden.detach()\n",
        "    hidden.detach_()\n",
        "    hidden = repackage_hidden(hidden)\n",
        "    hidden = torch.zeros(2, 3)\n",
    ],
)
def test_a_hidden_state_that_is_cut_is_lifted(cut: str) -> None:
    assert findings(RECURRENT.replace("    out, hidden", cut + "    out, hidden")) == []


def test_a_state_that_comes_back_under_another_name_is_followed() -> None:
    body = RECURRENT.replace("out, hidden = model(x, hidden)", "out, state = model(x, hidden)") + "    hidden = state\n"
    assert [line for line, _, _ in findings(body)] == [6]
    assert findings(body.replace("hidden = state", "hidden = state.detach()")) == []


def test_losses_gathered_over_iterations_before_a_backward_are_left() -> None:
    body = (
        "loss = 0\nfor i, (x, y) in enumerate(loader):\n    loss = loss + criterion(model(x), y)\n    if i % 4 == 0:\n"
        "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n        loss = 0\n"
    )
    ((line, message, _),) = findings(body)
    assert line == 6 and "loss (line 13) carries the graph" in message and "cut off only sometimes (line 18)" in message


def test_a_state_on_the_object_is_found_across_calls_of_a_method() -> None:
    body = """
class Trainer:
    def step(self, x, y):
        out, self.state = model(x, self.state)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
"""
    assert [line for line, _, _ in findings(body)] == [6]
    assert findings(body.replace("model(x, self.state)", "model(x, self.state.detach())")) == []


def test_a_backward_across_processes_is_left_with_the_pattern() -> None:
    source = (
        "import torch.distributed.autograd as dist_autograd\n"
        "with dist_autograd.context() as context_id:\n"
        "    loss = remote(x).sum()\n"
        "    dist_autograd.backward(context_id, [loss])\n"
    )
    found = [each for each in convert_source(source).findings if each.severity == "error"]
    assert {each.line for each in found} == {2, 4}
    assert all("value_and_grad" in each.advice and "msrun" in each.advice for each in found)


def test_weights_in_memory_that_processes_share_are_reported() -> None:
    found = [each for each in convert_source(HEAD + "model.share_memory()\n").findings if each.severity == "error"]
    assert [each.line for each in found] == [HEAD.count("\n") + 1]
    assert "share" in found[0].message and "msrun" in found[0].advice


@pytest.mark.parametrize("call", ['player.backward("10s")', "player.backward(10)", "robot.backward(speed=0.5)"])
def test_going_backward_is_not_always_a_gradient(call: str) -> None:
    source = f"import torch\nfrom audio import player, robot\n{call}\nx = torch.zeros(3)\n"
    conversion = convert_source(source)
    assert call in conversion.main
    assert [each for each in conversion.findings if each.code == "MF201"] == []


def test_what_is_drawn_at_random_is_not_drawn_twice() -> None:
    """`fake` is needed before the judge's step and after it: running it again would draw other noise."""
    body = """
judge = Net()
second = torch.optim.SGD(judge.parameters(), lr=0.1)
for x, y in loader:
    fake = model(torch.randn(4, 2))
    second.zero_grad()
    d_loss = judge(fake.detach()).mean()
    d_loss.backward()
    second.step()
    optimizer.zero_grad()
    g_loss = judge(fake).mean()
    g_loss.backward()
    optimizer.step()
"""
    ((line, message, _),) = findings(body)
    assert line == 12 and "torch.randn(4, 2)" in message and "put that value in a variable first" in message
    assert findings(body.replace("model(torch.randn(4, 2))", "model(x)")) == []


def test_gradients_are_taken_only_where_the_backward_would_run() -> None:
    text = loop(
        "out = model(x)\nloss = criterion(out, y)\nif training:\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\nprint(out)"
    )
    assert (
        "if training:\n        (loss, out), grads = grad_fn(x, y)\n    else:\n        loss, out = forward_fn(x, y)\n    if training:\n        optimizer(grads)"
        in text
    )


def test_a_condition_on_the_loss_is_asked_where_it_stands() -> None:
    text = loop(
        "loss = criterion(model(x), y)\noptimizer.zero_grad()\nif loss.item() < 10:\n    loss.backward()\noptimizer.step()"
    )
    assert "loss, grads = ms_compat.loss_and_gradients(forward_fn, model.trainable_params(), x, y)" in text
    assert "if loss.item() < 10:\n        ms_compat.add_gradients(model.trainable_params(), grads)\n" in text


def test_accelerate_s_backward_is_lifted_and_its_clipping_finds_the_gradients() -> None:
    text = convert_source(
        HEAD
        + "from accelerate import Accelerator\naccelerator = Accelerator()\nmodel, optimizer = accelerator.prepare(model, optimizer)\n"
        + "for x, y in loader:\n    loss = criterion(model(x), y)\n    accelerator.backward(loss)\n"
        + "    accelerator.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()\n    optimizer.zero_grad()\n"
    ).main
    assert "accelerator = ms_compat.Accelerator()" in text and "import accelerate" not in text
    assert (
        "loss = ms_compat.partial_backward(forward_fn, " in text
        and "    ms_compat.apply_gradients(optimizer)\n" in text
    )


def test_a_loss_of_an_unknown_network_is_not_taken_for_the_network() -> None:
    """The criterion alone has no parameters: lifted without the network, nothing would be learned."""
    body = "def step(thing, batch):\n    out = thing.run(batch)\n    loss = criterion(out, batch)\n    loss.backward()\n    optimizer.step()\n"
    assert [line for line, _, _ in findings(body)] == [4]


def test_an_object_that_wraps_an_optimizer_clears_before_the_gradients_come() -> None:
    text = loop(
        "loss = criterion(model(x), y)\nif training:\n    schedule.zero_grad()\n    loss.backward()\n    schedule.step_and_update()"
    )
    assert (
        "if training:\n        schedule.zero_grad()\n        loss = ms_compat.backward(forward_fn, model.trainable_params(), x, y)"
        in text
    )


def test_numbers_alone_do_not_come_back_through_has_aux_which_wants_a_tensor() -> None:
    body = "with torch.autocast('cpu'):\n    loss = criterion(model(x), y)\n    total += loss.item()\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()"
    text = convert_source(
        HEAD
        + "total = 0.0\nfor x, y in loader:\n"
        + "".join(f"    {line}\n" for line in body.splitlines())
        + "print(total)\n"
    ).main
    assert "has_aux" not in text


def test_parameters_of_an_unknown_network_given_by_keyword_stay_whole() -> None:
    code = "import torch\n\n\ndef f(make, rate):\n    net = make()\n    return torch.optim.Adam(params={}, lr=rate)\n"
    for given in ("net.parameters()", "[p for p in net.parameters() if p.requires_grad]"):
        conversion = convert_source(code.format(given))
        assert not conversion.findings and "net.trainable_params()" in conversion.main


def test_an_optimizer_that_a_closure_of_another_function_names_is_not_in_reach() -> None:
    code = (
        "import torch\nfrom torch import nn\n\n\ndef make():\n    return fill(nn.Sequential(nn.Linear(4, 3)))\n\n\n"
        "def fill(net):\n    return net\n\n\ndef fit():\n    net = make()\n    opt = torch.optim.LBFGS(net.parameters())\n\n"
        "    def closure():\n        opt.zero_grad()\n        loss = net(torch.ones(2, 4)).sum()\n        loss.backward()\n"
        "        return loss\n\n    opt.step(closure)\n\n\ndef look():\n    net = make()\n    h = net.fc1(torch.ones(2, 4))\n"
        "    loss = net.fc2(torch.tanh(h)).pow(2).sum()\n    loss.backward()\n    return h\n"
    )
    conversion = convert_source(code)
    assert "opt." not in conversion.main.partition("def look")[2]


def test_what_is_asked_for_its_parameters_is_a_network_whatever_its_method_is_called() -> None:
    code = (
        "import torch\n\n\ndef fit(flow, x: torch.Tensor):\n    opt = torch.optim.Adamax(flow.parameters())\n    for _ in range(3):\n"
        "        loss = -flow.log_prob(x).mean()\n        opt.zero_grad()\n        loss.backward()\n        opt.step()\n"
    )
    conversion = convert_source(code)
    assert [each.code for each in conversion.findings if each.severity == "error"] == []
    assert "loss = -flow.log_prob(x).mean()\n        return loss" in conversion.main


@pytest.mark.parametrize(
    "moved", ["prepared(Net()).to(device)", "prepared(Net()).cuda()", "prepared(prepared(Net())).to(device)"]
)
def test_a_network_that_a_function_prepares_before_it_is_moved_trains(moved: str) -> None:
    start = f"{HEAD}device = torch.device('cpu')\n\ndef prepared(net):\n    return net\n\nsecond = {moved}\n"
    step = "for x, y in loader:\n    loss = criterion(second(x), y)\n    loss.backward()\n"
    inner = moved[: moved.rindex(").") + 1]
    assert f"second = ms_compat.in_training({inner})" in convert_source(start + step).main
    told = convert_source(f"{start.rstrip()}.eval()\n{step}").main
    assert "in_training" not in told
