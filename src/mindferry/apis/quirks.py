"""What MindSpore gets wrong on a platform, in a version. tests/apis/test_quirks.py runs each case: one that is mended is an error there.

A rule whose only reason for a helper is such a defect names it in its framework's quirks.tsv, or asks `applies`: `--target ascend` then gets MindSpore's own API.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from ._framework import package_of

TARGETS_ON = {"CPU": ("portable", "cpu"), "Ascend": ("portable", "ascend")}


@dataclass(frozen=True, slots=True)
class Quirk:
    name: str
    platform: str
    version: str  # of MindSpore, in which it was measured
    what: str
    case: str  # an expression over ms, nn, ops, np, inf and a function t(list): True as long as the defect is there


QUIRKS = (
    Quirk(
        "NaN through relu",
        "CPU",
        "2.10",
        "relu, clamp, maximum, hardtanh, sign and max pools make numbers of NaN, softplus infinity: a check of the loss may not see it",
        "float(ops.relu(t([float('nan')]))[0]) == 0",
    ),
    Quirk(
        "tanh",
        "CPU",
        "2.10",
        "ops.tanh is off by 1e-4 in float32 for some inputs, and its gradient vanishes beyond 5",
        "float(ms.grad(lambda x: ops.tanh(x).sum())(t([5.5]))[0]) == 0",
    ),
    Quirk(
        "softmax of -inf",
        "CPU",
        "2.10",
        "a row of nothing but -inf leaves the rows after it unwritten",
        # several: what was in that memory before may be the right result of an earlier one
        "any(not np.allclose(ops.softmax(t([[-inf, -inf], [0, n]]), axis=-1).asnumpy()[1], [1 / (1 + np.exp(n)),"
        " 1 / (1 + np.exp(-n))], atol=1e-4) for n in (1, 2, 3, 4))",
    ),
    Quirk(
        "gradient of softmax over one entry",
        "CPU",
        "2.10",
        "after a gradient over an axis of length 1, the gradients over longer axes of tensors with as many dimensions are wrong",
        "any(abs(ms.grad(lambda x: (ops.softmax(x, -1) * t(range(n))).sum())(ms.ops.zeros((1,) * 6 + (n,)))"
        ".asnumpy().sum()) > 0.1 for n in (1, 4))",
    ),
    Quirk(
        "sum of nothing",
        "CPU",
        "2.10",
        "the sum of no elements is whatever was in memory",
        "any(float(ops.sum(ms.Tensor(np.ones((0, 3), np.float32)))) != 0 for _ in range(20))",
    ),
    Quirk(
        "product over nothing",
        "CPU",
        "2.10",
        "a matrix product over an inner dimension of no elements is whatever was in memory",
        "any((ops.full((64, 64), 7.0).sum(), ops.matmul(ms.Tensor(np.ones((64, 0), np.float32)),"
        " ms.Tensor(np.ones((0, 64), np.float32))))[1].asnumpy().any() for _ in range(20))",
    ),
    Quirk(
        "gradient of what is written to a part of a row",
        "CPU",
        "2.10",
        "in x[i, :n] = value, MindSpore's gradient of the value has an axis too many: flip and cumsum take the wrong one",
        "ms.grad(lambda v: (x := ops.zeros((2, 4)), x.__setitem__((1, slice(0, 2)), v), x.sum())[2])(t([1, 2])).ndim == 2",
    ),
    Quirk(
        "gradient of SELU",
        "CPU",
        "2.10",
        "the gradient of mindspore.nn.SeLU is wrong for negative inputs",
        "abs(float(ms.grad(lambda x: nn.SeLU()(x).sum())(t([-1.0]))[0]) - 1.7580993 * np.exp(-1.0)) > 1e-2",
    ),
    Quirk(
        "gradient of a zeroth power",
        "CPU",
        "2.10",
        "the gradient of x ** 0 is nan where x is 0",
        "bool(np.isnan(ms.grad(lambda x: (x**0).sum())(t([0.0, 1.0])).asnumpy()).any())",
    ),
    Quirk(
        "nan through comparisons",
        "CPU",
        "2.10",
        "relu, clamp, hardtanh and threshold make a number of nan, softplus makes it infinite, sign makes it 0",
        "float(ops.relu(t([float('nan')]))[0]) == 0 and float(ops.clamp(t([float('nan')]), 0, 1)[0]) == 0",
    ),
    Quirk(
        "deep copies",
        "CPU",
        "2.10",
        "what is written to copy.deepcopy(x) is written to x too",
        "(lambda x: (lambda y: (y.__setitem__(0, 5), float(x[0]) == 5)[1])(__import__('copy').deepcopy(x)))(t([1.0, 2.0]))",
    ),
    Quirk(
        "gradient of a search",
        "CPU",
        "2.10",
        "the gradient of x[found] fails where nothing was found",
        "fails(lambda: ms.grad(lambda x: x[ms.Tensor(np.zeros((0,), np.int32))].sum())(t([[1, 2], [3, 4]])).asnumpy())",
    ),
)
BY_NAME = {quirk.name: quirk for quirk in QUIRKS}


def applies(name: str, target: str) -> bool:
    """Whether code for this target must mind the defect."""
    return target in TARGETS_ON[BY_NAME[name].platform]


def native_on(target: str, source: str = "torch") -> dict[str, str]:
    """API -> MindSpore's own name, of helpers that a target does without."""
    lines = files(package_of(source)).joinpath("quirks.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {api: to for name, api, to in rows if not applies(name, target)}
