"""torch.optim.LBFGS: all parameters as one vector, and a closure that computes loss and gradients anew.

The vectors are numpy arrays: each iteration takes up to 400 dependent products of them, which are no work for a device.
"""

import numpy as np
from mindspore import Tensor, ops

from .optim import Optimizer


class LBFGS(Optimizer):
    """torch.optim.LBFGS. `loss = optimizer.step(closure)`, where closure() returns (loss, grads) as mindspore.value_and_grad's functions do."""

    takes_gradients = True

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
    ):
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError("only 'strong_wolfe' is supported")
        options = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_eval or max_iter * 5 // 4,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, options)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self.memory = self.state[self.parameters[0]]
        self.memory.update(func_evals=0, n_iter=0)

    def load_state(self, p, values):
        self.state[p].update(values)

    def construct(self, closure):
        return self.step(closure)

    def step(self, closure):
        group, memory = self.param_groups[0], self.memory
        tolerance, max_iter, lr = group["tolerance_change"], group["max_iter"], float(group["lr"])
        original, grad = self.evaluate(closure)
        loss, evaluations, iterations = float(original), 1, 0
        if np.abs(grad).max() <= group["tolerance_grad"]:
            memory["func_evals"] += 1
            return original
        while iterations < max_iter:
            iterations += 1
            memory["n_iter"] += 1
            direction = self.direction(grad, group["history_size"])
            previous_loss = loss
            is_first = memory["n_iter"] == 1
            size = min(1.0, 1.0 / float(np.abs(grad).sum())) * lr if is_first else lr
            slope = inner_product(grad, direction)
            memory.update(d=direction, t=size, prev_flat_grad=grad)
            if slope > -tolerance:
                break
            if group["line_search_fn"] is not None:
                start = [p.copy() for p in self.parameters]
                limit = group["max_eval"] - evaluations
                search = LineSearch(lambda t, start=start, d=direction: self.try_step(closure, start, t, d), direction)
                loss, grad, size = search.run(size, loss, grad, slope, limit)
                self.move(size, direction)
                evaluations += search.evaluations
            else:
                self.move(size, direction)
                if iterations != max_iter:
                    value, grad = self.evaluate(closure)
                    loss = float(value)
                    evaluations += 1
            memory.update(t=size, prev_loss=previous_loss)
            is_flat = np.abs(grad).max() <= group["tolerance_grad"]
            is_still = size * float(np.abs(direction).max()) <= tolerance or abs(loss - previous_loss) < tolerance
            if evaluations >= group["max_eval"] or is_flat or is_still:
                break
        memory["func_evals"] += evaluations
        return original

    def direction(self, grad, history_size):
        """The quasi-Newton direction from the last steps and changes of the gradient."""
        memory = self.memory
        if memory["n_iter"] == 1:
            memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -grad
        change, moved = grad - memory["prev_flat_grad"], memory["d"] * memory["t"]
        changes, steps, weights = memory["old_dirs"], memory["old_stps"], memory["ro"]
        curvature = inner_product(change, moved)
        if curvature > 1e-10:
            if len(changes) == history_size:
                del changes[0], steps[0], weights[0]
            changes.append(change)
            steps.append(moved)
            weights.append(1.0 / curvature)
            memory["H_diag"] = curvature / inner_product(change, change)
        result, shares = -grad, [0.0] * len(changes)
        for i in reversed(range(len(changes))):
            shares[i] = inner_product(steps[i], result) * weights[i]
            result = result - changes[i] * shares[i]
        result = result * memory["H_diag"]
        for i in range(len(changes)):
            result = result + steps[i] * (shares[i] - inner_product(changes[i], result) * weights[i])
        return result

    def evaluate(self, closure):
        loss, grads = closure()
        return loss, np.concatenate([grad.asnumpy().reshape(-1) for grad in grads])

    def try_step(self, closure, start, size, direction):
        """Loss and gradient at a distance along the direction; the parameters stay where they were."""
        self.move(size, direction)
        loss, grad = self.evaluate(closure)
        for p, value in zip(self.parameters, start, strict=True):
            ops.assign(p, value)
        return float(loss), grad

    def move(self, size, direction):
        offset, change = 0, direction * size
        for p in self.parameters:
            ops.assign(p, p + Tensor(change[offset : offset + p.size].reshape(p.shape)))
            offset += p.size


class LineSearch:
    """A step that satisfies the strong Wolfe conditions: bracketed, then refined by cubic interpolation."""

    def __init__(self, objective, direction):
        self.objective, self.direction = objective, direction
        self.width = float(np.abs(direction).max())
        self.evaluations = 0

    def at(self, t):
        loss, grad = self.objective(t)
        self.evaluations += 1
        return t, loss, grad, inner_product(grad, self.direction)

    def run(self, t, loss, grad, slope, limit, c1=1e-4, c2=0.9, tolerance=1e-9):
        start, previous, point = (0.0, loss, grad, slope), (0.0, loss, grad, slope), self.at(t)
        tries, bracket, is_done = 0, None, False
        while tries < limit:
            if point[1] > loss + c1 * point[0] * slope or (tries > 1 and point[1] >= previous[1]):
                bracket = [previous, point]
            elif abs(point[3]) <= -c2 * slope:
                bracket, is_done = [point], True
            elif point[3] >= 0:
                bracket = [previous, point]
            if bracket is not None:
                break
            bounds = (point[0] + 0.01 * (point[0] - previous[0]), point[0] * 10)
            previous, point = point, self.at(cubic_minimum(previous, point, bounds))
            tries += 1
        if bracket is None:
            bracket = [start, point]
        low = self.refined(bracket, is_done, tries, limit, (loss, slope, c1, c2, tolerance))
        return low[1], low[2], low[0]

    def refined(self, bracket, is_done, tries, limit, terms):
        loss, slope, c1, c2, tolerance = terms
        is_slow = False
        low, high = (0, -1) if bracket[0][1] <= bracket[-1][1] else (-1, 0)
        while not is_done and tries < limit and abs(bracket[1][0] - bracket[0][0]) * self.width >= tolerance:
            t = cubic_minimum(bracket[0], bracket[1], None)
            ends = sorted(each[0] for each in bracket)
            margin = 0.1 * (ends[1] - ends[0])
            is_near = min(ends[1] - t, t - ends[0]) < margin
            if is_near and (is_slow or t >= ends[1] or t <= ends[0]):
                t, is_near = (ends[1] - margin if abs(t - ends[1]) < abs(t - ends[0]) else ends[0] + margin), False
            is_slow = is_near
            point = self.at(t)
            tries += 1
            if point[1] > loss + c1 * t * slope or point[1] >= bracket[low][1]:
                bracket[high] = point
                low, high = (0, -1) if bracket[0][1] <= bracket[1][1] else (-1, 0)
                continue
            if abs(point[3]) <= -c2 * slope:
                is_done = True
            elif point[3] * (bracket[high][0] - bracket[low][0]) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
        return bracket[low]


def cubic_minimum(first, second, bounds):
    """Where a cubic through two points with their slopes is smallest, within bounds."""
    (x1, f1, _, g1), (x2, f2, _, g2) = first, second
    lowest, highest = bounds or (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (lowest + highest) / 2
    if x1 <= x2:
        best = x2 - (x2 - x1) * ((g2 + square**0.5 - d1) / (g2 - g1 + 2 * square**0.5))
    else:
        best = x1 - (x1 - x2) * ((g1 + square**0.5 - d1) / (g1 - g2 + 2 * square**0.5))
    return min(max(best, lowest), highest)


def inner_product(a, b):
    return float(np.dot(a, b))
