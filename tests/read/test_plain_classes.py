"""Classes that run no network: what a replay buffer of another file gives is asked for once, outside of what is differentiated."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from mindferry.convert import convert_project

STORES = """
import random
from abc import ABC, abstractmethod
from collections import deque, namedtuple
from typing import NamedTuple

import numpy as np
import torch

Transition = namedtuple("Transition", ("state", "reward"))


class Rows(NamedTuple):
    state: np.ndarray
    reward: np.ndarray


def width_of(dim):
    return width_of(dim[0]) if isinstance(dim, tuple) else int(dim)


class Store(ABC):
    # Parameters: none of its own

    def to_torch(self, array):
        return torch.as_tensor(array, dtype=torch.float32).to(self.device)

    @abstractmethod
    def sample(self, n):
        ...


class ReplayBuffer(Store):
    def __init__(self, dim, max_size=int(1e6)):
        super().__init__()
        dim = width_of((dim,))
        self.max_size, self.ptr, self.size, self.drawn = max_size, 0, 0, 0
        self.state = np.zeros((64, dim))
        self.reward = np.zeros((64, 1))
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def add(self, state, reward):
        self.state[self.ptr] = state
        self.reward[self.ptr] = reward
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample(self, n):
        self.drawn += 1
        ind = np.random.randint(0, self.size, size=n)
        return Rows(*tuple(map(self.to_torch, (self.state[ind], self.reward[ind]))))


class Memory:
    def __init__(self, capacity):
        self.buffer, self.drawn = deque(maxlen=capacity), 0

    def push(self, *args):
        self.buffer.append(Transition(*args))

    def fetch(self, n):
        self.drawn += 1
        state, reward = map(np.stack, zip(*random.sample(self.buffer, n)))
        return state, reward


class Model:
    def __init__(self, net):
        self.net = net

    def sample(self, x):
        return self.net(x)
"""
AGENT = """
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from stores import Memory, ReplayBuffer


class Agent:
    def __init__(self):
        self.critic, self.actor, self.it = nn.Linear(3, 1), nn.Linear(3, 3), 0
        for m in (self.critic, self.actor):
            nn.init.constant_(m.weight, 0.3)
            nn.init.constant_(m.bias, 0.1)
        self.critic_opt = torch.optim.SGD(self.critic.parameters(), lr=0.1)
        self.actor_opt = torch.optim.SGD(self.actor.parameters(), lr=0.1)

    def train(self, buffer: ReplayBuffer):
        self.it += 1
        state, reward = buffer.sample(4)
        with torch.no_grad():
            target = reward + 0.9 * self.critic(state)
        loss = F.mse_loss(self.critic(state), target)
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        if self.it % 2 == 0:
            actor_loss = -self.critic(self.actor(state)).mean()
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()
            return [loss.item(), actor_loss.item()]
        return [loss.item()]


def main():
    buffer, agent, memory, seen = ReplayBuffer(3), Agent(), Memory(50), []
    np.random.seed(0)
    random.seed(0)
    rng = np.random.RandomState(1)
    for i in range(20):
        buffer.add(rng.randn(3), rng.rand())
        memory.push(rng.randn(3).astype(np.float32), rng.rand(1).astype(np.float32))
    for i in range(4):
        seen += agent.train(buffer)
    net, actor = agent.critic, agent.actor
    opt, opt2 = torch.optim.Adam(net.parameters(), lr=0.01), torch.optim.Adam(actor.parameters(), lr=0.01)
    for i in range(2):
        state, reward = memory.fetch(5)
        state, reward = torch.from_numpy(state), torch.from_numpy(reward)
        loss = F.smooth_l1_loss(net(state), reward)
        opt.zero_grad()
        loss.backward()
        opt.step()
        loss2 = net(actor(state)).mean()
        opt2.zero_grad()
        loss2.backward()
        opt2.step()
        seen += [loss.item(), loss2.item()]
    return seen, [buffer.drawn, memory.drawn]
"""


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patch:
        patch.syspath_prepend(folder)
        for name in ("agent", "stores", "ms_compat"):
            sys.modules.pop(name, None)
        import agent  # type: ignore[import-not-found]

        result = agent.main()
    for name in ("agent", "stores", "ms_compat"):
        sys.modules.pop(name, None)
    return result


def test_a_buffer_of_another_file_is_asked_once_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    (theirs / "stores.py").write_text(STORES)
    (theirs / "agent.py").write_text(AGENT)
    result = convert_project(theirs, ours)
    assert not [each for each in result.findings if each.severity != "note"]
    expected, found = run(theirs, monkeypatch), run(ours, monkeypatch)
    assert found[0] == pytest.approx(expected[0], abs=1e-5) and found[1] == expected[1] == [4, 2]


def test_what_draws_and_may_hold_a_network_is_not_run_twice(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "stores.py").write_text(
        STORES.replace("self.drawn += 1\n        ind", "self.drawn += self.source(n)\n        ind")
    )
    (theirs / "agent.py").write_text(AGENT)
    said = [each.message for each in convert_project(theirs, tmp_path / "ours").findings if each.code == "MF201"]
    assert said and "running `buffer.sample(4)` twice may give something else" in said[0]
