"""A tensor's methods as functions with torch's arguments, for values that are asked at run time whether they are tensors."""

import mindspore as ms
from mindspore import ops

from .functions_shape import as_shape, squeeze
from .layers_module import cell_to

FRACTIONS = (ms.float16, ms.bfloat16, ms.float32, ms.float64, ms.complex64, ms.complex128)
DTYPES = (*FRACTIONS, ms.int8, ms.int16, ms.int32, ms.int64, ms.uint8, ms.bool_)
TYPES_BY_NAME = {
    "Float": ms.float32,
    "Double": ms.float64,
    "Half": ms.float16,
    "BFloat16": ms.bfloat16,
    "Long": ms.int64,
    "Int": ms.int32,
    "Short": ms.int16,
    "Char": ms.int8,
    "Byte": ms.uint8,
    "Bool": ms.bool_,
}


def torch_names(kwargs):
    """numpy's names of arguments, which torch takes too: axis is dim, keepdims is keepdim."""
    names = {"axis": "dim", "keepdims": "keepdim"}
    return {names.get(name, name): value for name, value in kwargs.items()}


def tensor_size(x, dim=None):
    """torch's x.size()."""
    return x.shape if dim is None else x.shape[dim]


def tensor_ndim(x):
    """torch's x.dim()."""
    return x.ndim


def tensor_numel(x):
    """torch's x.numel()."""
    return x.size


def tensor_view(x, *shape, size=None):
    """torch's x.view: a shape, or another type for the same memory."""
    shape = shape if size is None else (size,)
    return x.view(shape[0]) if shape[0] in DTYPES else x.reshape(as_shape(shape))


def tensor_view_as(x, other):
    """torch's x.view_as."""
    return x.reshape(other.shape)


def tensor_expand_as(x, other):
    """torch's x.expand_as."""
    return ops.broadcast_to(x, other.shape)


def tensor_permute(x, *dims):
    """torch's x.permute."""
    return ops.permute(x, as_shape(dims))


def tensor_flip(x, *dims):
    """torch's x.flip."""
    return ops.flip(x, as_shape(dims))


def tensor_unsqueeze(x, dim):
    """torch's x.unsqueeze."""
    return ops.expand_dims(x, dim)


def tensor_squeeze(x, *dim):
    """torch's x.squeeze."""
    return squeeze(x, as_shape(dim) if dim else None)


def tensor_same(x, *args, **kwargs):
    """x.cpu(), x.contiguous() and whatever else only moves a tensor: MindSpore places tensors itself."""
    return x


def tensor_clone(x, memory_format=None):
    """torch's x.clone(): no gradient flows through Parameter.copy()."""
    return ops.deepcopy(x)


def tensor_detach(x):
    """torch's x.detach()."""
    return ops.stop_gradient(x)


def tensor_numpy(x, force=False):
    """torch's x.numpy()."""
    return x.asnumpy()


def tensor_item(x):
    """torch's x.item()."""
    return x.item()


def tensor_tolist(x):
    """torch's x.tolist()."""
    return x.tolist()


def tensor_to(x, *args, **kwargs):
    """torch's x.to: a type, or another tensor's; devices are MindSpore's own affair."""
    for each in (*args, *kwargs.values()):
        kind = each.dtype if isinstance(each, ms.Tensor) else each
        if kind in DTYPES:
            return (x if kind in FRACTIONS else ops.stop_gradient(x)).astype(kind)
    return x


def tensor_type(x, dtype=None, non_blocking=False):
    """torch's x.type: a type, a maker of tensors such as FloatTensor, or the name of one."""
    if dtype is None:
        return x.dtype
    if isinstance(dtype, str):
        return x.astype(TYPES_BY_NAME[dtype.rpartition(".")[2].removesuffix("Tensor")])
    return x.astype(dtype) if dtype in DTYPES else dtype(x)


def tensor_type_as(x, other):
    """torch's x.type_as."""
    return x.astype(other.dtype)


def tensor_float(x, memory_format=None):
    """torch's x.float()."""
    return x.astype(ms.float32)


def tensor_double(x, memory_format=None):
    """torch's x.double()."""
    return x.astype(ms.float64)


def tensor_half(x, memory_format=None):
    """torch's x.half()."""
    return x.astype(ms.float16)


def tensor_bfloat16(x, memory_format=None):
    """torch's x.bfloat16()."""
    return x.astype(ms.bfloat16)


def tensor_long(x, memory_format=None):
    """torch's x.long()."""
    return ops.stop_gradient(x).astype(ms.int64)


def tensor_int(x, memory_format=None):
    """torch's x.int()."""
    return ops.stop_gradient(x).astype(ms.int32)


def tensor_short(x, memory_format=None):
    """torch's x.short()."""
    return ops.stop_gradient(x).astype(ms.int16)


def tensor_byte(x, memory_format=None):
    """torch's x.byte()."""
    return ops.stop_gradient(x).astype(ms.uint8)


def tensor_bool(x, memory_format=None):
    """torch's x.bool()."""
    return ops.stop_gradient(x).astype(ms.bool_)


def tensor_new_full(x, size, fill_value, *, dtype=None, device=None, requires_grad=False):
    """torch's x.new_full."""
    return ops.full(as_shape((size,)), fill_value, dtype=dtype or x.dtype)


def tensor_new_zeros(x, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """torch's x.new_zeros, x.new_empty."""
    return ops.zeros(as_shape(size), dtype or x.dtype)


def tensor_new_ones(x, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """torch's x.new_ones."""
    return ops.ones(as_shape(size), dtype or x.dtype)


def tensor_masked_fill(x, mask, value):
    """torch's x.masked_fill."""
    value = value if isinstance(value, ms.Tensor) else ms.Tensor(value, x.dtype)
    return ops.where(mask, value.astype(x.dtype), x)


def tensor_element_size(x):
    """torch's x.element_size()."""
    return x.itemsize


def tensor_get_device(x):
    """torch's x.get_device(): -1 on a CPU."""
    return -1 if x.device == "CPU" else 0


def tensor_requires_grad(x, requires_grad=True):
    """torch's x.requires_grad_: a parameter stays one, another tensor is cut off from gradients."""
    if isinstance(x, ms.Parameter):
        x.requires_grad = requires_grad
        return x
    return x if requires_grad else ops.stop_gradient(x)


def module_children(cell):
    """torch's m.children()."""
    return iter(cell.cells())


def module_modules(cell, remove_duplicate=True):
    """torch's m.modules()."""
    return iter([each for _, each in cell.cells_and_names()])


def module_named_children(cell):
    """torch's m.named_children()."""
    return iter(cell.name_cells().items())


def module_named_modules(cell, memo=None, prefix="", remove_duplicate=True):
    """torch's m.named_modules()."""
    return iter(list(cell.cells_and_names(name_prefix=prefix)))


def module_train(cell, mode=True):
    """torch's m.train()."""
    return cell.set_train(mode)


def module_eval(cell):
    """torch's m.eval()."""
    return cell.set_train(False)


def module_forward(cell, *args, **kwargs):
    """torch's m.forward(x)."""
    return cell.construct(*args, **kwargs)


def module_same(cell, *args, **kwargs):
    """m.cuda() and m.cpu(): MindSpore places networks itself."""
    return cell


def module_float(cell):
    """torch's m.float()."""
    return cell_to(cell, ms.float32)


def module_half(cell):
    """torch's m.half()."""
    return cell_to(cell, ms.float16)


def module_double(cell):
    """torch's m.double()."""
    return cell_to(cell, ms.float64)


def module_register_parameter(cell, name, param):
    """torch's m.register_parameter."""
    setattr(cell, name, param)


def module_get_submodule(cell, target):
    """torch's m.get_submodule."""
    return cell.get_sub_cell(target) if target else cell
