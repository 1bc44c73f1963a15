"""ms_compat.EMA follows ema_pytorch's rule: copies first, then averages with a growing decay."""

from __future__ import annotations

import pytest

from mindferry.apis.torch.compat.moving_average import EMA


def test_the_average_follows_the_formula() -> None:
    from mindspore import Tensor, nn

    net = nn.Dense(1, 1, has_bias=False)
    ema = EMA(net, beta=0.9, update_after_step=2, update_every=1)
    expected, values = 0.0, [1.0, 5.0, 2.0, 7.0, 3.0, 4.0]
    for step, value in enumerate(values):
        net.weight.set_data(Tensor([[value]]))
        ema.update()
        epoch = max(step + 1 - 2 - 1, 0)
        decay = min(1 - (1 + epoch) ** (-2 / 3), 0.9) if step > 2 else 0.0
        expected = expected * decay + value * (1 - decay)
        assert float(ema.ema_model.weight.asnumpy()) == pytest.approx(expected, rel=1e-5), step
    assert not any(parameter.requires_grad for parameter in ema.ema_model.get_parameters())


def test_an_option_that_is_not_written_raises() -> None:
    from mindspore import nn

    with pytest.raises(NotImplementedError, match="use_foreach"):
        EMA(nn.Dense(1, 1), use_foreach=True)
