"""ema_pytorch.EMA, which goes along with accelerate in many training scripts."""

from __future__ import annotations

from ..._rule import Case, rule

rule(
    "ema_pytorch.EMA",
    to="compat.EMA",
    args="model ema_model beta update_after_step update_every inv_gamma power min_value",
    like="compat.EMA",
    differs="a plain object that holds the copy; rarer options raise",
    cases=[
        Case(
            "ema_pytorch.EMA(nn.Linear(2, 3), beta=0.9)",
            "ms_compat.EMA(nn.Dense(2, 3), beta=0.9)",
            runs=False,
            why="tests/apis/test_moving_average.py follows its average",
        )
    ],
)
