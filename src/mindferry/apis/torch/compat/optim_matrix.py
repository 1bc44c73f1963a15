"""Optimizers that look at a parameter as a matrix, with torch's arithmetic."""

import math

import mindspore as ms
from mindspore import Tensor, ops

from .optim import GradientOptimizer


class Adafactor(GradientOptimizer):
    """torch.optim.Adafactor."""

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        super().__init__(
            params, lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, maximize=maximize
        )

    def first_state(self, group, p):
        if p.ndim < 2:
            return {"row_var": Tensor(0.0, p.dtype), "col_var": Tensor(0.0, p.dtype), "variance": ops.zeros_like(p)}
        rows, columns = (*p.shape[:-1], 1), (*p.shape[:-2], 1, p.shape[-1])
        return {
            "row_var": ops.zeros(rows, p.dtype),
            "col_var": ops.zeros(columns, p.dtype),
            "variance": Tensor(0.0, p.dtype),
        }

    def update_group(self, group, slots, step, lr, momentum, params, grads):
        tiny = 1.1920929e-07 if group["eps"][0] is None else group["eps"][0]
        fresh, size = ops.pow(step, group["beta2_decay"]), ops.minimum(lr, 1 / ops.sqrt(step))
        for i, (p, grad) in enumerate(zip(params, grads)):
            row, column, whole = slots["row_var"][i], slots["col_var"][i], slots["variance"][i]
            scale = ops.maximum(ops.sqrt((p * p).mean()), Tensor(group["eps"][1], p.dtype)) * size
            square = grad * grad
            if p.ndim < 2:
                ops.assign(whole, whole + (square - whole) * fresh)
                variance = ops.maximum(whole, Tensor(tiny * tiny, p.dtype))
            else:
                ops.assign(row, row + (square.mean(-1, keep_dims=True) - row) * fresh)
                ops.assign(column, column + (square.mean(-2, keep_dims=True) - column) * fresh)
                variance = row * column / ops.maximum(row.mean(-2, keep_dims=True), Tensor(tiny, p.dtype))
                variance = ops.maximum(variance, Tensor(tiny * tiny, p.dtype))
            change = grad / ops.sqrt(variance)
            excess = ops.maximum(ops.sqrt((change * change).mean()) / group["d"], Tensor(1.0, p.dtype))
            ops.assign(p, p * (1 - lr * group["weight_decay"]) - change * (scale / excess))


class Muon(GradientOptimizer):
    """torch.optim.Muon: for matrices only."""

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.775, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        super().__init__(
            params,
            lr=lr,
            weight_decay=weight_decay,
            momentum=momentum,
            nesterov=nesterov,
            ns_coefficients=ns_coefficients,
            eps=eps,
            ns_steps=ns_steps,
            adjust_lr_fn=adjust_lr_fn,
            maximize=False,
        )
        for p in self.parameters:
            if p.ndim != 2:
                raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.shape}")

    def first_state(self, group, p):
        return {"momentum_buffer": ops.zeros_like(p)}

    def update_group(self, group, slots, step, lr, momentum, params, grads):
        for p, grad, buffer in zip(params, grads, slots["momentum_buffer"]):
            ops.assign(buffer, buffer + (grad - buffer) * (1 - momentum))
            change = grad + (buffer - grad) * momentum if group["nesterov"] else buffer
            change = orthogonalized(change, group["ns_coefficients"], group["ns_steps"], group["eps"])
            height, width = p.shape
            ratio = (
                0.2 * math.sqrt(max(height, width))
                if group["adjust_lr_fn"] == "match_rms_adamw"
                else math.sqrt(max(1, height / width))
            )
            ops.assign(p, p * (1 - lr * group["weight_decay"]) - change * (lr * ratio))


def in_bfloat16(x):
    """Rounded as torch rounds here; the arithmetic stays float32, since MindSpore has no bfloat16 kernels on CPU."""
    return x.astype(ms.bfloat16).astype(ms.float32)


def orthogonalized(grad, coefficients, steps, eps):
    """Newton-Schulz iteration in bfloat16, as torch's Muon does it."""
    a, b, c = coefficients
    x = in_bfloat16(grad.T if grad.shape[0] > grad.shape[1] else grad)
    norm = in_bfloat16(ops.sqrt((x * x).sum()))
    x = in_bfloat16(x / ops.maximum(norm, Tensor(eps, ms.float32)))
    for _ in range(steps):
        gram = in_bfloat16(ops.matmul(x, x.T))
        polynomial = in_bfloat16(b * gram + c * ops.matmul(gram, gram))
        x = in_bfloat16(a * x + ops.matmul(polynomial, x))
    return x.T if grad.shape[0] > grad.shape[1] else x
