"""Adam and its variants, with torch's arithmetic."""
# ruff: noqa: B905 (zip takes no strict= under ms.jit)

import math

import numpy as np
from mindspore import ops

from .optim import GradientOptimizer, bias_correction


class Adam(GradientOptimizer):
    """torch.optim.Adam. MindSpore's own doesn't correct epsilon's bias."""

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False,
        capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):  # fmt: skip
        super().__init__(
            params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip

    def slot_values(self, group):
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0, **({"max_exp_avg_sq": 0.0} if group["amsgrad"] else {})}

    def apply(self, group, slots, step, lr, beta1, params, grads):
        beta2, decay = group["betas"][1], group["weight_decay"]
        # The kernel takes 1 - beta2 in float32, which is 1e-5 off for 0.999: its second moment is off by this factor.
        excess = 1.0 if group["amsgrad"] else math.sqrt(float(np.float32(1) - np.float32(beta2)) / (1 - beta2))
        root = ops.sqrt(-ops.expm1(step * math.log(beta2 or 1e-45))) * excess
        size, eps = lr * root / bias_correction(beta1, step), root * group["eps"]
        for i, (p, grad) in enumerate(zip(params, grads)):
            if decay != 0 and group["decoupled_weight_decay"]:
                ops.assign(p, p * (1 - lr * decay))
            elif decay != 0:
                grad = grad + p * decay
            m, v = slots["exp_avg"][i], slots["exp_avg_sq"][i]
            if not group["amsgrad"]:
                ops.Adam()(p, m, v, 0.0, 0.0, size, beta1, beta2, eps, grad)
                continue
            largest = slots["max_exp_avg_sq"][i]
            ops.assign(m, m + (grad - m) * (1 - beta1))
            ops.assign(v, v * beta2 + grad * grad * (1 - beta2))
            ops.assign(largest, ops.maximum(largest, v))
            ops.assign(p, p - size * m / (ops.sqrt(largest) + eps))
