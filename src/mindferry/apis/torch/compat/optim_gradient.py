"""SGD and the optimizers that scale each gradient by its own history, with torch's arithmetic."""

import mindspore as ms
from mindspore import Tensor, ops

from .optim import GradientOptimizer, decayed
from .parts import HAS_DOUBLES


class SGD(GradientOptimizer):
    """torch.optim.SGD. The first step takes the gradient as it is, whatever the dampening."""

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
            maximize=maximize,
        )

    def first_state(self, group, p):
        return {"momentum_buffer": ops.zeros_like(p)} if group["momentum"] != 0 else {}

    def update_group(self, group, slots, step, lr, momentum, params, grads):
        share = 1 - group["dampening"] * (step > 1).astype(ms.float32)
        fused = ops.ApplyMomentum()  # made once: to make an operator takes longer than to run it
        for i, (p, grad) in enumerate(zip(params, grads)):
            grad = decayed(grad, p, group["weight_decay"])
            if group["momentum"] == 0:
                ops.assign_sub(p, grad * lr)
            elif group["dampening"] == 0 and not group["nesterov"] and not (HAS_DOUBLES and p.dtype == ms.float64):
                fused(p, slots["momentum_buffer"][i], lr, grad, momentum)
            else:
                buffer = slots["momentum_buffer"][i]
                ops.assign(buffer, buffer * momentum + grad * share)
                ops.assign_sub(p, (grad + buffer * momentum if group["nesterov"] else buffer) * lr)


class RMSprop(GradientOptimizer):
    """torch.optim.RMSprop."""

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        super().__init__(
            params,
            lr=lr,
            alpha=alpha,
            eps=eps,
            weight_decay=weight_decay,
            momentum=momentum,
            centered=centered,
            maximize=maximize,
        )

    def first_state(self, group, p):
        names = ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * bool(group["centered"])
        return {name: ops.zeros_like(p) for name in names}

    def update_group(self, group, slots, step, lr, momentum, params, grads):
        alpha = group["alpha"]
        fused = ops.ApplyMomentum()
        for i, (p, grad) in enumerate(zip(params, grads)):
            grad = decayed(grad, p, group["weight_decay"])
            square = slots["square_avg"][i]
            ops.assign(square, square * alpha + grad * grad * (1 - alpha))
            variance = square
            if group["centered"]:
                mean = slots["grad_avg"][i]
                ops.assign(mean, mean + (grad - mean) * (1 - alpha))
                variance = square - mean * mean
            change = grad / (ops.sqrt(variance) + group["eps"])
            if group["momentum"] > 0 and HAS_DOUBLES and p.dtype == ms.float64:
                buffer = slots["momentum_buffer"][i]
                ops.assign(buffer, buffer * momentum + change)
                ops.assign_sub(p, buffer * lr)
            elif group["momentum"] > 0:
                fused(p, slots["momentum_buffer"][i], lr, change, momentum)
            else:
                ops.assign_sub(p, change * lr)


class Adagrad(GradientOptimizer):
    """torch.optim.Adagrad."""

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(
            params,
            lr=lr,
            lr_decay=lr_decay,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            initial_accumulator_value=initial_accumulator_value,
        )

    def first_state(self, group, p):
        return {"sum": ops.full_like(p, float(group["initial_accumulator_value"]))}

    def update_group(self, group, slots, step, lr, momentum, params, grads):
        size = lr / (1 + (step - 1) * group["lr_decay"])
        for p, grad, total in zip(params, grads, slots["sum"]):
            grad = decayed(grad, p, group["weight_decay"])
            ops.assign_add(total, grad * grad)
            ops.assign_sub(p, size * grad / (ops.sqrt(total) + group["eps"]))


class Adadelta(GradientOptimizer):
    """torch.optim.Adadelta."""

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        super().__init__(params, lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize)

    def first_state(self, group, p):
        return {"square_avg": ops.zeros_like(p), "acc_delta": ops.zeros_like(p)}

    def update_group(self, group, slots, step, lr, momentum, params, grads):
        rho, eps = group["rho"], group["eps"]
        for p, grad, square, moved in zip(params, grads, slots["square_avg"], slots["acc_delta"]):
            grad = decayed(grad, p, group["weight_decay"])
            ops.assign(square, square * rho + grad * grad * (1 - rho))
            change = ops.sqrt(moved + eps) / ops.sqrt(square + eps) * grad
            ops.assign(moved, moved * rho + change * change * (1 - rho))
            ops.assign_sub(p, change * lr)


class Rprop(GradientOptimizer):
    """torch.optim.Rprop."""

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        super().__init__(params, lr=lr, etas=etas, step_sizes=step_sizes, maximize=maximize)

    def first_state(self, group, p):
        return {"prev": ops.zeros_like(p), "step_size": ops.full_like(p, float(group["lr"]))}

    def update_group(self, group, slots, step, lr, momentum, params, grads):
        shrink, grow = group["etas"]
        smallest, largest = group["step_sizes"]
        for p, grad, previous, size in zip(params, grads, slots["prev"], slots["step_size"]):
            agreement = grad * previous
            is_turned = (agreement < 0).astype(p.dtype)
            factor = 1 + (shrink - 1) * is_turned + (grow - 1) * (agreement > 0).astype(p.dtype)
            ops.assign(size, ops.clamp(size * factor, smallest, largest))
            kept = grad * (1 - is_turned)
            ops.assign_sub(p, ops.sign(kept) * size)
            ops.assign(previous, kept)


class ASGD(GradientOptimizer):
    """torch.optim.ASGD; the averages are in state[p]["ax"]."""

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        super().__init__(params, lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, maximize=maximize)

    def first_state(self, group, p):
        return {"ax": ops.zeros_like(p)}

    def shared_state(self, group):
        return {"eta": Tensor(float(group["lr"]), ms.float32), "mu": Tensor(1.0, ms.float32)}

    def update_group(self, group, slots, step, lr, momentum, params, grads):
        eta, mu = slots["eta"], slots["mu"]
        for p, grad, average in zip(params, grads, slots["ax"]):
            grad = decayed(grad, p, group["weight_decay"])
            ops.assign(p, p * (1 - group["lambd"] * eta) - grad * eta)
            ops.assign_add(average, (p - average) * mu)
        ops.assign(eta, lr / (1 + group["lambd"] * lr * step) ** group["alpha"])
        ops.assign(mu, 1 / ops.maximum(step - group["t0"], Tensor(1.0, ms.float32)))
