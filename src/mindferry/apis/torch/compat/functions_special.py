"""Special functions with torch's names: by formula where the argument allows one, otherwise on the host."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .linalg import change


def lgamma_derivative(n, x):
    """The n-th derivative of digamma, by its recurrence and asymptotic series."""
    total, shifted_x = 0.0, x
    for _ in range(12):
        total = total + ops.pow(shifted_x, -(n + 1.0))
        shifted_x = shifted_x + 1
    series = math.factorial(n - 1) * ops.pow(shifted_x, -float(n)) + math.factorial(n) / 2 * ops.pow(
        shifted_x, -(n + 1.0)
    )
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)
    for k, value in enumerate(bernoulli, 1):
        factor = value * math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        series = series + factor * ops.pow(shifted_x, -float(2 * k + n))
    return (-1.0) ** (n + 1) * (math.factorial(n) * total + series)


def polygamma(n, input):
    """torch.polygamma; negative arguments by reflection for n = 1."""
    if n == 0:
        return ops.digamma(input)
    x = input if input.is_floating_point() else input.astype(ms.float32)
    if n != 1:
        return lgamma_derivative(n, x)
    is_low = x < 0.5
    mirrored = lgamma_derivative(1, ops.where(is_low, 1 - x, x))
    sine = ops.sin(math.pi * ops.where(is_low, x, ops.full_like(x, 0.5)))
    return ops.where(is_low, (math.pi / sine) ** 2 - mirrored, mirrored)


def mvlgamma(input, p):
    """torch.mvlgamma."""
    x = input if input.is_floating_point() else input.astype(ms.float32)
    total = ops.full_like(x, p * (p - 1) / 4 * math.log(math.pi))
    for j in range(p):
        total = total + ops.lgamma(x - j / 2)
    return total


def erfinv(input):
    """torch.erfinv, refined by two Newton steps."""
    start = ops.stop_gradient(input)
    w = -ops.log((1 - start) * (1 + start))
    a = 2 / (math.pi * 0.147) - w / 2
    x = ops.sign(start) * ops.sqrt(ops.sqrt(ops.square(a) + w / 0.147) - a)
    inside = ops.logical_and(start > -1, start < 1)
    x = ops.where(inside, x, ops.zeros_like(x))
    for _ in range(3):
        x = x - (ops.erf(x) - start) * (math.sqrt(math.pi) / 2) * ops.exp(ops.square(x))
    edge = ops.where(start.abs() == 1, start * float("inf"), ops.full_like(start, float("nan")))
    slope = math.sqrt(math.pi) / 2 * ops.exp(ops.square(x))
    return ops.where(inside, x + slope * (input - start), edge)


def ndtr(input):
    """torch.special.ndtr."""
    return 0.5 * ops.erfc(-input / math.sqrt(2))


def ndtri(input):
    """torch.special.ndtri."""
    return math.sqrt(2) * erfinv(2 * input - 1)


def erfcx(input):
    """torch.special.erfcx: exp(x²) erfc(x) without overflow."""
    low = ops.where(input < 2, input, ops.full_like(input, 2.0))
    high = ops.where(input < 2, ops.full_like(input, 2.0), input)
    fraction = high
    for k in range(50, 0, -1):  # a continued fraction
        fraction = high + (k / 2) / fraction
    return ops.where(input < 2, ops.exp(ops.square(low)) * ops.erfc(low), 1 / (math.sqrt(math.pi) * fraction))


def log_ndtr(input):
    """torch.special.log_ndtr."""
    is_low = input < -1
    low = ops.where(is_low, input, ops.full_like(input, -1.0))
    high = ops.where(is_low, ops.full_like(input, -1.0), input)
    return ops.where(
        is_low,
        ops.log(erfcx(-low / math.sqrt(2)) / 2) - ops.square(low) / 2,
        ops.log1p(-ops.erfc(high / math.sqrt(2)) / 2),
    )


def entr(input):
    """torch.special.entr."""
    is_positive = input > 0
    safe = ops.where(is_positive, input, ops.ones_like(input))
    edge = ops.where(input == 0, ops.zeros_like(input), ops.full_like(input, float("-inf")))
    return ops.where(ops.isnan(input), input, ops.where(is_positive, -safe * ops.log(safe), edge))


def xlog1py(input, other):
    """torch.special.xlog1py."""
    return xlogy(input, 1 + other)


def xlogy(input, other):
    """torch.xlogy: zero where input is zero."""
    x, y = (each if isinstance(each, ms.Tensor) else ms.Tensor(each, ms.float32) for each in (input, other))
    skip = ops.logical_and(x == 0, ops.logical_not(ops.isnan(y)))
    safe = ops.where(skip, ops.ones_like(y), y)
    return x * ops.log(safe)


def bessel_i1(input):
    """torch.special.i1, with its gradient at zero."""
    x = ops.stop_gradient(input)
    is_zero = x == 0
    ratio = ops.bessel_i1(x) / ops.where(is_zero, ops.ones_like(x), x)
    return ops.bessel_i1(x) + change(input) * ops.where(is_zero, ops.full_like(x, 0.5), ops.bessel_i0(x) - ratio)


def sinc(input):
    """torch.sinc."""
    is_zero = input == 0
    angle_ = math.pi * ops.where(is_zero, ops.ones_like(input), input)
    return ops.where(is_zero, ops.ones_like(input), ops.sin(angle_) / angle_)


def spherical_bessel_j0(z):
    """torch.special.spherical_bessel_j0."""
    return sinc(z / math.pi)


def logit(input, eps=None):
    """torch.logit."""
    x = input if eps is None else ops.clamp(input, eps, 1 - eps)
    return ops.log(x / (1 - x))


def zeta(input, other):
    """torch.special.zeta, on the host, by Euler and Maclaurin's formula."""
    x, q = (
        each.asnumpy().astype(np.float64) if isinstance(each, ms.Tensor) else np.float64(each)
        for each in (input, other)
    )
    x, q = np.broadcast_arrays(x, q)
    with np.errstate(all="ignore"):
        total, base = np.zeros(x.shape), q.copy()
        for _ in range(30):
            total, base = total + np.power(base, -x), base + 1
        total = total + np.power(base, 1 - x) / (x - 1) + np.power(base, -x) / 2
        factor, power = x.copy(), np.power(base, -x - 1)
        for k, value in enumerate((1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160)):
            total = total + value * factor * power
            factor, power = factor * (x + 2 * k + 1) * (x + 2 * k + 2), power / base**2
        whole = q == np.floor(q)
        total = np.where(x == 1, np.inf, np.where(x < 1, np.nan, total))
        total = np.where((q <= 0) & (x > 1), np.where(whole, np.inf, np.where(x != np.floor(x), np.nan, total)), total)
    return ms.Tensor(total.astype(np.float32))


def polynomial(input, n, first, step):
    """A family of polynomials by its recurrence, evaluated on the host; negative orders are zero."""
    x, order = (
        each.asnumpy().astype(np.float64) if isinstance(each, ms.Tensor) else np.float64(each) for each in (input, n)
    )
    x, order = np.broadcast_arrays(x, order)
    orders = np.trunc(order).astype(np.int64)
    previous, current = np.ones(x.shape), first(x)
    result = np.where(orders == 0, previous, np.where(orders == 1, current, 0.0))
    with np.errstate(all="ignore"):
        for k in range(2, int(orders.max(initial=0)) + 1):
            previous, current = current, step(k, x, current, previous)
            result = np.where(orders == k, current, result)
    return ms.Tensor(result.astype(np.float32))


def chebyshev_polynomial_t(input, n):
    """torch.special.chebyshev_polynomial_t."""
    return polynomial(input, n, lambda x: x, lambda k, x, a, b: 2 * x * a - b)


def chebyshev_polynomial_u(input, n):
    """torch.special.chebyshev_polynomial_u."""
    return polynomial(input, n, lambda x: 2 * x, lambda k, x, a, b: 2 * x * a - b)


def chebyshev_polynomial_v(input, n):
    """torch.special.chebyshev_polynomial_v."""
    return polynomial(input, n, lambda x: 2 * x - 1, lambda k, x, a, b: 2 * x * a - b)


def chebyshev_polynomial_w(input, n):
    """torch.special.chebyshev_polynomial_w."""
    return polynomial(input, n, lambda x: 2 * x + 1, lambda k, x, a, b: 2 * x * a - b)


def shifted_chebyshev_polynomial_t(input, n):
    """torch.special.shifted_chebyshev_polynomial_t."""
    return chebyshev_polynomial_t(2 * input - 1, n)


def shifted_chebyshev_polynomial_u(input, n):
    """torch.special.shifted_chebyshev_polynomial_u."""
    return chebyshev_polynomial_u(2 * input - 1, n)


def shifted_chebyshev_polynomial_v(input, n):
    """torch.special.shifted_chebyshev_polynomial_v."""
    return chebyshev_polynomial_v(2 * input - 1, n)


def shifted_chebyshev_polynomial_w(input, n):
    """torch.special.shifted_chebyshev_polynomial_w."""
    return chebyshev_polynomial_w(2 * input - 1, n)


def hermite_polynomial_h(input, n):
    """torch.special.hermite_polynomial_h."""
    return polynomial(input, n, lambda x: 2 * x, lambda k, x, a, b: 2 * x * a - 2 * (k - 1) * b)


def hermite_polynomial_he(input, n):
    """torch.special.hermite_polynomial_he."""
    return polynomial(input, n, lambda x: x, lambda k, x, a, b: x * a - (k - 1) * b)


def laguerre_polynomial_l(input, n):
    """torch.special.laguerre_polynomial_l."""
    return polynomial(input, n, lambda x: 1 - x, lambda k, x, a, b: ((2 * k - 1 - x) * a - (k - 1) * b) / k)


def legendre_polynomial_p(input, n):
    """torch.special.legendre_polynomial_p."""
    return polynomial(input, n, lambda x: x, lambda k, x, a, b: ((2 * k - 1) * x * a - (k - 1) * b) / k)


def by_quadrature(x, integrand, upper, count):
    """The integral over [0, upper] by Gauss and Legendre, on the host."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    t = (nodes + 1) * upper / 2
    return (integrand(x[..., None], t) * weights).sum(-1) * upper / 2


def modified_bessel_k(input, order, is_scaled):
    """K of order 0 or 1, from its integral."""
    x = np.asarray(input.asnumpy(), np.float64)
    with np.errstate(all="ignore"):
        shift = 1.0 if is_scaled else 0.0
        value = by_quadrature(x, lambda y, t: np.exp(y * (shift - np.cosh(t))) * np.cosh(order * t), 25.0, 400)
    return ms.Tensor(np.where(x > 0, value, np.where(x == 0, np.inf, np.nan)).astype(np.float32))


def modified_bessel_k0(input):
    """torch.special.modified_bessel_k0."""
    return modified_bessel_k(input, 0, False)


def modified_bessel_k1(input):
    """torch.special.modified_bessel_k1."""
    return modified_bessel_k(input, 1, False)


def scaled_modified_bessel_k0(input):
    """torch.special.scaled_modified_bessel_k0."""
    return modified_bessel_k(input, 0, True)


def scaled_modified_bessel_k1(input):
    """torch.special.scaled_modified_bessel_k1."""
    return modified_bessel_k(input, 1, True)


def airy_ai(x):
    """torch.special.airy_ai, on the host: a power series near zero, asymptotic series away from it."""
    z = np.asarray(x.asnumpy(), np.float64)
    with np.errstate(all="ignore"):
        near, f, g, a, b = np.clip(z, -8, 5), 0.0, 0.0, np.ones(z.shape), np.clip(z, -8, 5)
        for k in range(80):
            f, g = f + a, g + b
            a, b = a * near**3 / ((3 * k + 2) * (3 * k + 3)), b * near**3 / ((3 * k + 3) * (3 * k + 4))
        series = 0.355028053887817239 * f - 0.258819403792806798 * g
        size = np.abs(z)
        reach = 2 / 3 * size**1.5
        decay = (
            np.exp(-reach) / (2 * math.sqrt(math.pi) * size**0.25) * (1 - 5 / (72 * reach) + 385 / (10368 * reach**2))
        )
        phase = reach + math.pi / 4
        wave = (np.sin(phase) * (1 - 385 / (10368 * reach**2)) - np.cos(phase) * 5 / (72 * reach)) / (
            math.sqrt(math.pi) * size**0.25
        )
        value = np.where(z > 5, decay, np.where(z < -8, wave, series))
    return ms.Tensor(value.astype(np.float32))


def bessel_y0(input):
    """torch.special.bessel_y0: minus infinity at zero, NaN below."""
    return on_positive(ops.bessel_y0, input)


def bessel_y1(input):
    """torch.special.bessel_y1."""
    return on_positive(ops.bessel_y1, input)


def on_positive(function, x):
    is_positive = x > 0
    value = function(ops.where(is_positive, x, ops.ones_like(x)))
    edge = ops.where(x == 0, ops.full_like(x, float("-inf")), ops.full_like(x, float("nan")))
    return ops.where(is_positive, value, edge)
