"""What agents and hand-written optimizers do: leaf tensors of an object, gradients changed by hand, noise drawn in place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from two_frameworks import Both, same

from mindferry import convert_source

SCRIPT = """
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.optim.optimizer import Optimizer, required


class Scaled(Optimizer):
    def __init__(self, params, lr=required, decay=0.2):
        if lr is not required and lr < 0.0:
            raise ValueError(lr)
        super().__init__(params, dict(lr=lr, decay=decay))

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.grad.data += group["decay"] * p.data
                p.grad.data *= 0.5
                p.data.add_(p.grad.data, alpha=-group["lr"])


class Agent:
    def __init__(self, is_tuned):
        self.policy = nn.Sequential()
        self.policy.add_module(name="first", module=nn.Linear(3, 2))
        for number, p in enumerate(self.policy.parameters()):
            p.data.fill_(0.1 * (number + 1))
        self.optimizer = Scaled(self.policy.parameters(), lr=0.1)
        self.is_tuned = is_tuned
        self.noise = torch.zeros(2)
        if self.is_tuned:
            self.scale = torch.zeros(1, requires_grad=True)
            self.scale_optimizer = torch.optim.SGD([self.scale], lr=0.1)

    def state(self, batch):
        weight = next(self.policy.parameters()).data
        shape = (1, batch)
        return Variable(weight.new(*shape).zero_()), weight.new(batch, 2).fill_(3.0)

    def update(self, x):
        out = self.policy(x)
        loss = out.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.is_tuned:
            scale_loss = -(self.scale * (out + 1.5).detach()).mean()
            self.scale_optimizer.zero_grad()
            scale_loss.backward()
            self.scale_optimizer.step()
            scale = self.scale.exp()
        else:
            scale_loss = torch.tensor(0.0)
            scale = torch.tensor(1.0)
        noise = self.noise.fill_(loss.item())
        return loss.item(), scale_loss.item(), scale.item(), noise.sum().item(), self.noise.sum().item()


for is_tuned in (True, False):
    agent = Agent(is_tuned)
    print([float(each.sum()) for each in agent.state(4)], len(agent.optimizer.__repr__()) > 3)
    for step in range(3):
        print(*(f"{each:.4f}" for each in agent.update(torch.arange(12.0).reshape(4, 3) * 0.1 + step)))
"""


def test_an_agent_with_a_scale_of_its_own_learns_as_in_torch(tmp_path: Path) -> None:
    conversion = convert_source(SCRIPT)
    assert [each for each in conversion.findings if each.severity == "error"] == []
    told = []
    for name, code in (("torch_side.py", SCRIPT), ("other_side.py", conversion.code)):
        (tmp_path / name).write_text(code)
        done = subprocess.run(
            [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True
        )
        told.append(done.stdout.replace("-0.0000", "0.0000"))
    assert told[0] == told[1]


def test_a_leaf_of_a_network_stays_what_it_is() -> None:
    """torch does not count it among the network's parameters; a Parameter would be counted."""
    code = "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = torch.zeros(1, requires_grad=True)\n"
    assert "Parameter(" not in convert_source(code).main


def test_a_network_that_moves_its_own_tensors_returns_itself() -> None:
    code = "import torch\nclass Net(torch.nn.Module):\n    def to(self, device):\n        return super(Net, self).to(device)\n    def cuda(self):\n        return super().cuda()\n"
    assert convert_source(code).main.count("return self\n") == 2


def test_what_is_taken_out_of_an_optimizer_s_state_begins_anew(both: Both) -> None:
    theirs, ours = both("""
import collections

def emptied(opt, net):
    opt.state.clear()

def replaced(opt, net):
    opt.state = collections.defaultdict(dict)

def partly(opt, net):
    opt.state.pop(net.bias)

def run():
    found = []
    makers = [
        lambda w: torch.optim.Adam(w, lr=0.1),
        lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9),
        lambda w: torch.optim.NAdam(w, lr=0.1),
    ]
    for make, reset in zip(makers, (emptied, partly, replaced)):
        net = nn.Linear(6, 1)
        net.load_state_dict({"weight": torch.full((1, 6), 0.1), "bias": torch.zeros(1)})
        opt = make(list(net.parameters()))
        x = torch.from_numpy(X)
        for epoch in range(5):
            opt.zero_grad()
            loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
            loss.backward()
            opt.step()
            found.append(loss.item())
            if epoch == 2:
                reset(opt, net)
    return found
""")
    assert same(ours, theirs)
