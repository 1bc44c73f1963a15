"""torch.nn.utils: weights computed from other parameters, clipping, and parameters as one vector."""

import math

import mindspore as ms
from mindspore import nn, ops

from .layers_conv import ConvTranspose3d
from .layers_module import register_buffer


def norm_except(v, dim):
    """The length of v along every axis but one; along all for dim=None."""
    if dim is None:
        return ops.sqrt((v * v).sum())
    axes = tuple(axis for axis in range(v.ndim) if axis != dim % v.ndim)
    return ops.sqrt((v * v).sum(axes, keepdims=True))


def as_torch_weight(cell, weight):
    """A weight in torch's layout: MindSpore's one-dimensional convolutions keep an axis more."""
    return weight.squeeze(2) if isinstance(cell, (nn.Conv1d, nn.Conv1dTranspose)) and weight.ndim == 4 else weight


def kept_name(cell, name):
    """What MindSpore's layer calls the parameter: an embedding's weight is its table."""
    return "embedding_table" if isinstance(cell, nn.Embedding) and name == "weight" else name


def put_weight(cell, name, weight):
    """Set a computed weight, in the layout and under the name that the cell wants."""
    is_wide = isinstance(cell, (nn.Conv1d, nn.Conv1dTranspose)) and weight.ndim == 3
    object.__setattr__(cell, kept_name(cell, name), weight.expand_dims(2) if is_wide else weight)


def weight_norm(module, name="weight", dim=0):
    """torch.nn.utils.weight_norm: the weight is computed from its direction and length before each call."""
    v = as_torch_weight(module, getattr(module, kept_name(module, name))).copy()
    delattr(module, kept_name(module, name))
    setattr(module, f"{name}_g", ms.Parameter(norm_except(v, dim), name=f"{name}_g"))
    setattr(module, f"{name}_v", ms.Parameter(v, name=f"{name}_v"))

    def compute(cell, inputs):
        direction = getattr(cell, f"{name}_v")
        put_weight(cell, name, direction * (getattr(cell, f"{name}_g") / norm_except(direction, dim)))

    module.weight_norm_hook = module.register_forward_pre_hook(compute)
    compute(module, ())
    make_writable(module, name)
    return module


def make_writable(cell, name):
    """Code that sets first weights may write into the computed one; the next call computes it anew."""
    kept = kept_name(cell, name)
    object.__setattr__(cell, kept, ms.Parameter(getattr(cell, kept).copy(), name=kept, requires_grad=False))


def remove_weight_norm(module, name="weight"):
    """torch.nn.utils.remove_weight_norm: the weight is an ordinary parameter again."""
    return settle_weight(module, name, module.weight_norm_hook, ("g", "v"))


def settle_weight(module, name, hook, factors):
    """Compute the weight a last time and keep it as a parameter."""
    if factors == ("g", "v"):
        v, g = getattr(module, f"{name}_v"), getattr(module, f"{name}_g")
        axes = [axis for axis in range(g.ndim) if g.shape[axis] != 1]
        put_weight(module, name, v * (g / norm_except(v, axes[0] if axes else 0 if g.ndim else None)))
    kept = kept_name(module, name)
    weight = ms.Tensor(getattr(module, kept).asnumpy())
    hook.remove()
    for factor in factors:
        delattr(module, f"{name}_{factor}")
    object.__delattr__(module, kept)
    setattr(module, kept, ms.Parameter(weight, name=kept))
    return module


def unit(x, eps):
    """x at length one."""
    return x / ops.maximum(ops.sqrt((x * x).sum()), ms.Tensor(eps, x.dtype))


def power_iteration(matrix, u, v, count, eps, is_u_first):
    """The first singular vectors, a few steps nearer."""
    for _ in range(count):
        if is_u_first:
            u = unit(ops.matmul(matrix, v), eps)
        v = unit(ops.matmul(matrix.T, u), eps)
        if not is_u_first:
            u = unit(ops.matmul(matrix, v), eps)
    return u, v


def parametrized_spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """torch.nn.utils.parametrizations.spectral_norm: as spectral_norm, but it starts nearer, and with the other vector."""
    return spectral_norm(module, name, n_power_iterations, eps, dim, 15)


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None, warm_up=0):
    """torch.nn.utils.spectral_norm: the weight is divided by its largest singular value, which each training call estimates anew."""
    original = as_torch_weight(module, getattr(module, kept_name(module, name))).copy()
    if dim is None:
        dim = (
            1
            if isinstance(module, (nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose, ConvTranspose3d))
            else 0
        )
    order = (dim, *[axis for axis in range(original.ndim) if axis != dim])

    def matrix(weight):
        return weight.transpose(order).reshape((weight.shape[dim], -1))

    delattr(module, kept_name(module, name))
    setattr(module, f"{name}_orig", ms.Parameter(original, name=f"{name}_orig"))
    flat = matrix(original)
    u, v = power_iteration(
        flat, unit(ops.randn(flat.shape[0]), eps), unit(ops.randn(flat.shape[1]), eps), warm_up, eps, True
    )
    register_buffer(module, f"{name}_u", u)
    register_buffer(module, f"{name}_v", v)

    def compute(cell, inputs):
        weight, u, v = getattr(cell, f"{name}_orig"), getattr(cell, f"{name}_u"), getattr(cell, f"{name}_v")
        flat = matrix(weight)
        if cell.training:
            new_u, new_v = power_iteration(ops.stop_gradient(flat), u, v, n_power_iterations, eps, warm_up > 0)
            ops.assign(u, new_u)
            ops.assign(v, new_v)
            u, v = new_u, new_v
        u, v = ops.stop_gradient(u), ops.stop_gradient(v)
        put_weight(cell, name, weight / (u * ops.matmul(flat, v)).sum())

    module.spectral_norm_hook = module.register_forward_pre_hook(compute)
    if warm_up:
        compute(module, ())
        make_writable(module, name)
    else:  # until the first call, what is written into the weight is written into the original
        object.__setattr__(module, kept_name(module, name), getattr(module, f"{name}_orig"))
    return module


def remove_spectral_norm(module, name="weight"):
    """torch.nn.utils.remove_spectral_norm: the weight is an ordinary parameter again."""
    return settle_weight(module, name, module.spectral_norm_hook, ("orig", "u", "v"))


def gradients_of(parameters):
    """The gradients that parameters keep, with the parameters."""
    several = [parameters] if isinstance(parameters, ms.Tensor) else list(parameters)
    return [each for each in several if getattr(each, "grad", None) is not None]


def total_norm(tensors, norm_type=2.0):
    """torch.nn.utils.get_total_norm."""
    tensors = list(tensors)
    if not tensors:
        return ms.Tensor(0.0, ms.float32)
    if norm_type == math.inf:
        return ops.stack([ops.abs(each).max() for each in tensors]).max()
    return ops.pow(ops.stack([ops.pow(ops.abs(each), norm_type).sum() for each in tensors]).sum(), 1 / norm_type)


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """torch.nn.utils.clip_grad_norm_, on the gradients that the parameters keep."""
    owners = gradients_of(parameters)
    norm = total_norm([each.grad for each in owners], float(norm_type))
    if error_if_nonfinite and not math.isfinite(float(norm)):
        raise RuntimeError(f"The total norm of order {norm_type} for gradients is non-finite, so it can't be clipped")
    scale = ops.minimum(max_norm / (norm + 1e-6), ms.Tensor(1.0, norm.dtype))
    for each in owners:
        each.grad = each.grad * scale.astype(each.grad.dtype)
    return norm


def clip_grad_value(parameters, clip_value, foreach=None):
    """torch.nn.utils.clip_grad_value_, on the gradients that the parameters keep."""
    for each in gradients_of(parameters):
        each.grad = ops.clamp(each.grad, -clip_value, clip_value)


def parameters_to_vector(parameters):
    """torch.nn.utils.parameters_to_vector."""
    return ops.cat([each.reshape((-1,)) for each in parameters])


def unflatten_dense_tensors(flat, tensors):
    """torch._utils._unflatten_dense_tensors: the flat tensor in parts that are shaped like these."""
    parts, start = [], 0
    for each in tensors:
        parts.append(flat[start : start + each.size].reshape(each.shape))
        start += each.size
    return tuple(parts)


def vector_to_parameters(vec, parameters):
    """torch.nn.utils.vector_to_parameters."""
    start = 0
    for each in parameters:
        each.set_data(vec[start : start + each.size].reshape(each.shape).astype(each.dtype).copy())  # no view
        start += each.size


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """torch.nn.utils.fusion.fuse_conv_bn_eval: one convolution that computes both."""
    bn = getattr(bn, "bn2d", bn)
    factor = bn.gamma * ops.rsqrt(bn.moving_variance + bn.eps)
    fused = nn.Conv2d(
        conv.in_channels,
        conv.out_channels,
        conv.kernel_size,
        conv.stride,
        conv.pad_mode,
        conv.padding,
        conv.dilation,
        conv.group,
        True,
    )
    fused.weight.set_data(conv.weight * factor.reshape((-1, 1, 1, 1)))
    bias = conv.bias if conv.bias is not None else ops.zeros_like(bn.moving_mean)
    fused.bias.set_data((bias - bn.moving_mean) * factor + bn.beta)
    return fused


def fuse_linear_bn_eval(linear, bn):
    """torch.nn.utils.fusion.fuse_linear_bn_eval: one linear layer that computes both."""
    factor = bn.gamma * ops.rsqrt(bn.moving_variance + bn.eps)
    fused = nn.Dense(linear.in_channels, linear.out_channels)
    fused.weight.set_data(linear.weight * factor.expand_dims(1))
    bias = linear.bias if linear.bias is not None else ops.zeros_like(bn.moving_mean)
    fused.bias.set_data((bias - bn.moving_mean) * factor + bn.beta)
    return fused


class FloatFunctional(nn.Cell):
    """torch.nn.quantized.FloatFunctional, without quantization."""

    def add(self, x, y):
        return x + y

    add_scalar = add

    def mul(self, x, y):
        return x * y

    mul_scalar = mul

    def matmul(self, x, y):
        return ops.matmul(x, y)

    def cat(self, x, dim=0):
        return ops.cat(x, dim)

    def add_relu(self, x, y):
        return ops.relu(x + y)
