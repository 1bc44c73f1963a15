"""Adam and its variants, with torch's arithmetic."""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .optim import GradientOptimizer, bias_correction, decayed
from .parts import HAS_DOUBLES


class Adam(GradientOptimizer):
    """torch.optim.Adam. MindSpore's own doesn't correct epsilon's bias."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            amsgrad=amsgrad,
            maximize=maximize,
            decoupled_weight_decay=decoupled_weight_decay,
        )

    def first_state(self, group, p):
        names = ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"] if group["amsgrad"] else ["exp_avg", "exp_avg_sq"]
        return {name: ops.zeros_like(p) for name in names}

    def update_group(self, group, slots, step, lr, beta1, params, grads):
        beta2, decay = group["betas"][1], group["weight_decay"]
        # The kernel takes 1 - beta2 in float32, which is 1e-5 off for 0.999: its second moment is off by this factor.
        excess = 1.0 if group["amsgrad"] else math.sqrt(float(np.float32(1) - np.float32(beta2)) / (1 - beta2))
        exact = ops.sqrt(-ops.expm1(step * math.log(beta2 or 1e-45)))
        root, rate = exact * excess, lr / bias_correction(beta1, step)
        size, eps = rate * root, root * group["eps"]
        kept = 1 - lr * decay
        fused = ops.Adam()  # made once: to make an operator takes longer than to run it
        for i, (p, grad) in enumerate(zip(params, grads)):
            if decay != 0 and group["decoupled_weight_decay"]:
                ops.assign(p, p * kept)
            else:
                grad = decayed(grad, p, decay)
            m, v = slots["exp_avg"][i], slots["exp_avg_sq"][i]
            if group["amsgrad"] or (HAS_DOUBLES and p.dtype == ms.float64):  # which the kernel refuses
                ops.assign(m, m + (grad - m) * (1 - beta1))
                ops.assign(v, v * beta2 + grad * grad * (1 - beta2))
                largest = ops.maximum(slots["max_exp_avg_sq"][i], v) if group["amsgrad"] else v
                if group["amsgrad"]:
                    ops.assign(slots["max_exp_avg_sq"][i], largest)
                ops.assign(p, p - rate * exact * m / (ops.sqrt(largest) + exact * group["eps"]))
            else:
                fused(p, m, v, 0.0, 0.0, size, beta1, beta2, eps, grad)


class AdamW(Adam):
    """torch.optim.AdamW."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True)


class NAdam(GradientOptimizer):
    """torch.optim.NAdam."""

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            momentum_decay=momentum_decay,
            maximize=maximize,
            decoupled_weight_decay=decoupled_weight_decay,
        )

    def first_state(self, group, p):
        return {"exp_avg": ops.zeros_like(p), "exp_avg_sq": ops.zeros_like(p)}

    def shared_state(self, group):
        return {"mu_product": Tensor(1.0, ms.float32)}

    def update_group(self, group, slots, step, lr, beta1, params, grads):
        beta2, decay, cooling = group["betas"][1], group["weight_decay"], group["momentum_decay"] * math.log(0.96)
        mu = beta1 * (1 - 0.5 * ops.exp(step * cooling))
        mu_next = beta1 * (1 - 0.5 * ops.exp((step + 1) * cooling))
        product = slots["mu_product"] * mu
        ops.assign(slots["mu_product"], product)
        correction = -ops.expm1(step * math.log(beta2 or 1e-45))
        now, ahead = lr * (1 - mu) / (1 - product), lr * mu_next / (1 - product * mu_next)
        for p, grad, m, v in zip(params, grads, slots["exp_avg"], slots["exp_avg_sq"]):
            if decay != 0 and group["decoupled_weight_decay"]:
                ops.assign(p, p * (1 - lr * decay))
            else:
                grad = decayed(grad, p, decay)
            ops.assign(m, m + (grad - m) * (1 - beta1))
            ops.assign(v, v * beta2 + grad * grad * (1 - beta2))
            ops.assign(p, p - (grad * now + m * ahead) / (ops.sqrt(v / correction) + group["eps"]))


class RAdam(GradientOptimizer):
    """torch.optim.RAdam."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            decoupled_weight_decay=decoupled_weight_decay,
        )

    def first_state(self, group, p):
        return {"exp_avg": ops.zeros_like(p), "exp_avg_sq": ops.zeros_like(p)}

    def update_group(self, group, slots, step, lr, beta1, params, grads):
        beta2, decay = group["betas"][1], group["weight_decay"]
        length = 2 / (1 - beta2) - 1
        exact = step.astype(ms.float64)  # rho is a small difference of large numbers
        power = ops.exp(exact * math.log(beta2))
        rho = length - 2 * exact * power / (1 - power)
        rectified = ops.sqrt(ops.maximum((rho - 4) * (rho - 2) * length / ((length - 4) * (length - 2) * rho), rho * 0))
        adaptive = (rectified * ops.sqrt(1 - power)).astype(ms.float32)
        is_adaptive = (rho > 5).astype(ms.float32)
        size = lr / bias_correction(beta1, step)
        for p, grad, m, v in zip(params, grads, slots["exp_avg"], slots["exp_avg_sq"]):
            if decay != 0 and group["decoupled_weight_decay"]:
                ops.assign(p, p * (1 - lr * decay))
            else:
                grad = decayed(grad, p, decay)
            ops.assign(m, m + (grad - m) * (1 - beta1))
            ops.assign(v, v * beta2 + grad * grad * (1 - beta2))
            factor = is_adaptive * adaptive / (ops.sqrt(v) + group["eps"]) + (1 - is_adaptive)
            ops.assign(p, p - size * m * factor)


class Adamax(GradientOptimizer):
    """torch.optim.Adamax."""

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize)

    def first_state(self, group, p):
        return {"exp_avg": ops.zeros_like(p), "exp_inf": ops.zeros_like(p)}

    def update_group(self, group, slots, step, lr, beta1, params, grads):
        beta2, size = group["betas"][1], lr / bias_correction(beta1, step)
        for p, grad, m, largest in zip(params, grads, slots["exp_avg"], slots["exp_inf"]):
            grad = decayed(grad, p, group["weight_decay"])
            ops.assign(m, m + (grad - m) * (1 - beta1))
            ops.assign(largest, ops.maximum(largest * beta2, ops.abs(grad) + group["eps"]))
            ops.assign(p, p - size * m / largest)


class SparseAdam(GradientOptimizer):
    """torch.optim.SparseAdam. Gradients are dense here: a row that is zero throughout counts as absent."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        super().__init__(params, lr=lr, betas=betas, eps=eps, maximize=maximize)

    def first_state(self, group, p):
        return {"exp_avg": ops.zeros_like(p), "exp_avg_sq": ops.zeros_like(p)}

    def update_group(self, group, slots, step, lr, beta1, params, grads):
        beta2 = group["betas"][1]
        size = lr * ops.sqrt(-ops.expm1(step * math.log(beta2 or 1e-45))) / bias_correction(beta1, step)
        for p, grad, m, v in zip(params, grads, slots["exp_avg"], slots["exp_avg_sq"]):
            rows = ops.abs(grad).reshape(grad.shape[0], -1).sum(axis=1) > 0
            present = rows.astype(p.dtype).reshape((-1,) + (1,) * (p.ndim - 1))
            ops.assign(m, m + (grad - m) * (1 - beta1) * present)
            ops.assign(v, v + (grad * grad - v) * (1 - beta2) * present)
            ops.assign(p, p - size * m / (ops.sqrt(v) + group["eps"]) * present)
