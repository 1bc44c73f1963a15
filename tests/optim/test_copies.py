"""An optimizer that is copied steps on its own; one whose parameters are frozen later leaves them."""

from __future__ import annotations

import copy

import numpy as np

from mindferry import convert_source

CODE = "import torch\nfrom torch import nn\n\nnet = nn.Linear(2, 3)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"


def test_a_copy_and_a_frozen_parameter(tmp_path, monkeypatch):
    (tmp_path / "copied_optimizer.py").write_text(convert_source(CODE).code)
    monkeypatch.syspath_prepend(tmp_path)
    import copied_optimizer
    from mindspore import ops

    net, optimizer = copied_optimizer.net, copied_optimizer.optimizer
    copied = copy.deepcopy(optimizer)
    gradients = tuple(ops.ones_like(p) for p in optimizer.parameters)
    before = net.weight.asnumpy().copy()
    copied(gradients)
    np.testing.assert_array_equal(net.weight.asnumpy(), before)
    assert (copied.parameters[0].asnumpy() != before).all()
    net.weight.requires_grad = False
    optimizer(gradients)
    np.testing.assert_array_equal(net.weight.asnumpy(), before)
    net.weight.requires_grad = True
    optimizer(gradients)
    assert (net.weight.asnumpy() != before).all()
