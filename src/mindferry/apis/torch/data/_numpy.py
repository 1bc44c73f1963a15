"""Tensor maths as numpy, for code that runs in data workers, where MindSpore operators must not.

A template's <part> is written only where the call gives the argument that it names; {self} is a method's tensor, {*} all arguments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..._call import Call
from ..._rule import Rule

TYPES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "bool": "bool_",
    **{name: name for name in "float16 float32 float64 int8 int16 int32 int64 uint8 complex64 complex128".split()},
}
PYTHON_TYPES = {"bool": "bool_", "int": "int64", "float": "float64"}
LEGACY = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ByteTensor": "uint8",
    "BoolTensor": "bool_",
}
IDLE = frozenset(
    "device requires_grad pin_memory memory_format non_blocking".split()
)  # arguments without a meaning for arrays
# Methods that only a tensor has, whatever the reader could tell about the receiver.
TENSOR_ONLY = frozenset(
    "unsqueeze permute contiguous float long double half bool int short byte char detach clone numpy".split()
)

TEMPLATES = {
    "torch.from_numpy": ("input", "{input}"),
    "torch.stack": ("tensors dim", "np.stack({tensors}<, axis={dim}>)"),
    "torch.cat": ("tensors dim", "np.concatenate({tensors}<, axis={dim}>)"),
    "torch.concat": ("tensors dim", "np.concatenate({tensors}<, axis={dim}>)"),
    "torch.zeros_like": ("input", "np.zeros_like({input})"),
    "torch.ones_like": ("input", "np.ones_like({input})"),
    "torch.where": ("condition input other", "np.where({condition}, {input}, {other})"),
    "torch.flip": ("input dims", "np.flip({input}, {dims}).copy()"),
    "torch.is_tensor": ("obj", "isinstance({obj}, np.ndarray)"),
    "torch.clamp": ("input min max", "np.clip({input}, {min}, {max})"),
    "torch.pow": ("input exponent", "np.power({input}, {exponent})"),
    "torch.argmax": ("input dim", "np.argmax({input}<, axis={dim}>)"),
    "torch.argmin": ("input dim", "np.argmin({input}<, axis={dim}>)"),
    "torch.nn.functional.one_hot": ("input num_classes", "np.eye({num_classes}, dtype=np.int64)[{input}]"),
    "torch.Tensor.permute": ("*", "{self}.transpose({*})"),
    "torch.Tensor.transpose": ("dim0 dim1", "{self}.swapaxes({dim0}, {dim1})"),
    "torch.Tensor.t": ("", "{self}.T"),
    "torch.Tensor.unsqueeze": ("dim", "np.expand_dims({self}, {dim})"),
    "torch.Tensor.view": ("*", "{self}.reshape({*})"),
    "torch.Tensor.reshape": ("*", "{self}.reshape({*})"),
    "torch.Tensor.flatten": ("", "{self}.reshape(-1)"),
    "torch.Tensor.contiguous": ("", "{self}"),
    "torch.Tensor.detach": ("", "{self}"),
    "torch.Tensor.cpu": ("", "{self}"),
    "torch.Tensor.clone": ("", "{self}.copy()"),
    "torch.Tensor.numpy": ("", "np.asarray({self})"),
    "torch.Tensor.item": ("", "{self}.item()"),
    "torch.Tensor.tolist": ("", "{self}.tolist()"),
    "torch.Tensor.dim": ("", "{self}.ndim"),
    "torch.Tensor.numel": ("", "{self}.size"),
    "torch.Tensor.div": ("other", "{self} / {other}"),
    "torch.Tensor.mul": ("other", "{self} * {other}"),
    "torch.Tensor.add": ("other", "{self} + {other}"),
    "torch.Tensor.sub": ("other", "{self} - {other}"),
    **{
        f"torch.Tensor.{name}": ("other", f"{{self}} {operator} {{other}}")
        for name, operator in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items()
    },
    "torch.Tensor.pow": ("exponent", "np.power({self}, {exponent})"),
    "torch.Tensor.neg": ("", "-{self}"),
    "torch.Tensor.nelement": ("", "{self}.size"),
    "torch.Tensor.ndimension": ("", "{self}.ndim"),
    "torch.Tensor.masked_fill": ("mask value", "np.where({mask}, {value}, {self})"),
    "torch.Tensor.clamp": ("min max", "np.clip({self}, {min}, {max})"),
    "torch.Tensor.max": ("", "{self}.max()"),
    "torch.Tensor.min": ("", "{self}.min()"),
    **{
        f"torch.{name}": ("input", f"np.{name}({{input}})")
        for name in "abs sqrt exp log log1p sin cos tanh floor ceil round sign isnan isinf logical_not".split()
    },
    **{
        f"torch.{name}": ("input dim keepdim", f"np.{name}({{input}}<, axis={{dim}}><, keepdims={{keepdim}}>)")
        for name in ("sum", "mean", "any", "all")
    },
    **{
        f"torch.Tensor.{name}": ("", f'{{self}}.astype("{TYPES[name].rstrip("_")}")')
        for name in "float double half long int short bool".split()
    },
    "torch.Tensor.byte": ("", '{self}.astype("uint8")'),
}


def _as_tensor(call: Call) -> None:
    """transform(image), where torch's code goes on with a tensor."""
    if not isinstance(call.node.func, ast.Name | ast.Call):
        helper = call.name("compat.to_tensor" if call.node.func.attr == "to_tensor" else "compat.pil_to_tensor")  # type: ignore[attr-defined]
        text = f"{helper}({', '.join(call.of(each) for each in call.node.args)})"
    else:
        text = call.of(call.node)
    call.replace(f"{call.name('mindspore.Tensor')}({text})")


AS_TENSOR = Rule("torchvision.transforms", function=_as_tensor)


@dataclass(frozen=True, slots=True)
class ArrayRule:
    rule: Rule
    accepts: Callable[[ast.Call, bool], bool]  # the call, and whether it is a method's


def array_rule(api: str) -> ArrayRule | None:
    """The numpy form of a torch function or method; a method without one follows the function of its name."""
    found = RULES.get(api)
    if found is None and api.startswith("torch.Tensor."):
        found = RULES.get(f"torch.{api.removeprefix('torch.Tensor.')}")
        if found is not None and found.rule.args[:1] != ("input",):
            return None
    return found


def _template(api: str, args: str, template: str) -> ArrayRule:
    names = tuple(args.replace("*", "").split())

    def rewrite(call: Call) -> None:
        text = re.sub(r"<([^<>]*\{(\w+)\}[^<>]*)>", lambda part: part[1] if call.has(part[2]) else "", template)
        text = text.replace("np.", f"{call.name('numpy')}.") if "np." in text else text
        values = {name: call.text(name, "None") for name in names}
        if "{self}" in text:
            values["self"] = call.target
        given = ", ".join(call.of(each) for each in call.node.args)
        call.replace(text.replace("{*}", given).format(**values))

    required = set(re.findall(r"\{(\w+)\}", re.sub(r"<[^<>]*>", "", template))) - {"self", "min", "max"}

    def accepts(node: ast.Call, is_method: bool) -> bool:
        positional = names[: len(node.args) + (is_method and names[:1] == ("input",))]
        given = {*positional, *_names(node)}
        fits = "*" in args or len(node.args) + (is_method and names[:1] == ("input",)) <= len(names)
        return is_plain(node) and fits and required <= given <= {*names}

    return ArrayRule(Rule(api, args=names, function=rewrite), accepts)


def is_plain(node: ast.Call) -> bool:
    return not any(isinstance(each, ast.Starred) for each in node.args) and all(each.arg for each in node.keywords)


def _names(node: ast.Call) -> set[str]:
    return {each.arg or "" for each in node.keywords} - IDLE


def type_name(node: ast.expr | None) -> str:
    """numpy's name for `torch.float32`, Python's `float` and the like, or ''."""
    if isinstance(node, ast.Name):
        return PYTHON_TYPES.get(node.id, "")
    return TYPES.get(node.attr, "") if isinstance(node, ast.Attribute) else ""


def _dtype(call: Call) -> str:
    return f"{call.name('numpy')}.{type_name(call.given['dtype'])}" if call.has("dtype") else ""


def _known_dtype(node: ast.Call) -> bool:
    given = [each.value for each in node.keywords if each.arg == "dtype"]
    return is_plain(node) and all(type_name(each) for each in given)


def _tensor(call: Call) -> None:
    """torch.tensor and as_tensor: Python floats are float32."""
    kind = call.kind("data").kind
    if call.has("dtype"):
        call.replace(f"{call.name('numpy.array')}({call.text('data')}, dtype={_dtype(call)})")
    elif kind in ("int", "bool"):
        call.replace(f"{call.name('numpy.array')}({call.text('data')})")
    else:
        call.replace(f"{call.name('compat.array_of')}({call.text('data')})")


def _legacy(call: Call) -> None:
    name = LEGACY[call.rule.api.rpartition(".")[2]]
    call.replace(f"{call.name('numpy.array')}({call.of(call.node.args[0])}, dtype={call.name('numpy')}.{name})")


def _is_list(node: ast.Call) -> bool:
    return is_plain(node) and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Constant)


def _size(call: Call) -> str:
    sizes = [call.of(each) for each in call.node.args]
    return call.text("size") if not sizes else sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"


def _filled(call: Call) -> None:
    name = call.rule.api.rpartition(".")[2]
    call.replace(f"{call.name('numpy')}.{name}({_size(call)}, dtype={_dtype(call) or call.name('numpy') + '.float32'})")


def _full(call: Call) -> None:
    """torch.full: the type follows from the value, Python's floats are float32."""
    value = call.text("fill_value")
    if not call.has("dtype"):
        value = f"{call.name('compat.array_of')}({value})"
    dtype = f", dtype={_dtype(call)}" if call.has("dtype") else ""
    call.replace(f"{call.name('numpy')}.full({call.text('size')}, {value}{dtype})")


def _is_full(node: ast.Call) -> bool:
    return (
        _known_dtype(node) and len(node.args) + len([each for each in node.keywords if each.arg == "fill_value"]) == 2
    )


def _random(call: Call) -> None:
    name = {"torch.rand": "random_sample", "torch.randn": "standard_normal"}[call.rule.api]
    call.replace(f"{_numbers(call)}.{name}({_size(call)}).astype({call.name('numpy')}.float32)")


def _numbers(call: Call) -> str:
    """Where data code draws from: not from the numbers that the project itself takes from numpy."""
    if call.reading.symbols.draws_host_numbers:
        return f"{call.name('compat.host_numbers')}()"
    return f"{call.name('numpy')}.random"


def _arange(call: Call) -> None:
    given = ", ".join(call.of(each) for each in call.node.args)
    is_float = any(call.reading.type(each).kind == "float" for each in call.node.args)
    dtype = _dtype(call) or (f"{call.name('numpy')}.float32" if is_float else "")
    call.replace(f"{call.name('numpy')}.arange({given}{', dtype=' + dtype if dtype else ''})")


def _to(call: Call) -> None:
    name = type_name(call.node.args[0] if call.node.args else call.given.get("dtype"))
    call.replace(f'{call.target}.astype("{name.rstrip("_")}")' if name else call.target)


def _is_to(node: ast.Call) -> bool:
    """A type, or a device (which has no meaning for an array)."""
    first = node.args[0] if node.args else next((each.value for each in node.keywords if each.arg == "dtype"), None)
    is_device = isinstance(first, ast.Constant) or (
        isinstance(first, ast.Name | ast.Attribute) and "device" in ast.dump(first)
    )
    return is_plain(node) and len(node.args) <= 1 and (bool(type_name(first)) or is_device or first is None)


def _shape(call: Call) -> None:
    call.replace(f"{call.target}.shape[{call.of(call.node.args[0])}]" if call.node.args else f"{call.target}.shape")


def _squeeze(call: Call) -> None:
    axis = f", {call.of(call.node.args[0])}" if call.node.args else ""
    call.replace(f"{call.name('compat.drop_axis')}({call.target}{axis})" if axis else f"{call.target}.squeeze()")


def _repeat(call: Call) -> None:
    call.replace(f"{call.name('numpy')}.tile({call.target}, {_size(call)})")


def _positional(node: ast.Call) -> bool:
    return is_plain(node) and not _names(node)


def _helper(call: Call) -> None:
    given = [call.of(each) for each in call.node.args] + [
        f"{each.arg}={call.of(each.value)}" for each in call.node.keywords
    ]
    call.replace(f"{call.name('compat.pad_arrays')}({', '.join(given)})")


def _randint(call: Call) -> None:
    call.replace(f"{_numbers(call)}.randint({', '.join(call.of(each) for each in call.node.args)})")


def _randperm(call: Call) -> None:
    call.replace(f"{_numbers(call)}.permutation({call.text('n')})")


def _special(
    api: str, function: Callable[[Call], None], accepts: Callable[[ast.Call], bool], args: str = ""
) -> ArrayRule:
    return ArrayRule(Rule(api, args=tuple(args.split()), function=function), lambda node, is_method: accepts(node))


RULES = {
    **{api: _template(api, *entry) for api, entry in TEMPLATES.items()},
    **{
        f"torch.{name}": _special(f"torch.{name}", _tensor, _known_dtype, "data dtype")
        for name in ("tensor", "as_tensor", "asarray")
    },
    **{f"torch.{name}": _special(f"torch.{name}", _legacy, _is_list) for name in LEGACY},
    **{f"torch.{name}": _special(f"torch.{name}", _filled, _known_dtype) for name in ("zeros", "ones", "empty")},
    **{api: _special(api, _random, _positional) for api in ("torch.rand", "torch.randn")},
    "torch.arange": _special("torch.arange", _arange, _known_dtype),
    "torch.randint": _special("torch.randint", _randint, _positional),
    "torch.randperm": _special(
        "torch.randperm", _randperm, lambda node: _positional(node) and len(node.args) == 1, "n"
    ),
    "torch.full": _special("torch.full", _full, _is_full, "size fill_value dtype"),
    "torch.nn.utils.rnn.pad_sequence": _special("torch.nn.utils.rnn.pad_sequence", _helper, is_plain),
    "torch.Tensor.to": _special("torch.Tensor.to", _to, _is_to, "dtype"),
    "torch.Tensor.type": _special(
        "torch.Tensor.type", _to, lambda node: bool(node.args) and bool(type_name(node.args[0])), "dtype"
    ),
    "torch.Tensor.size": _special("torch.Tensor.size", _shape, _positional),
    "torch.Tensor.squeeze": _special("torch.Tensor.squeeze", _squeeze, _positional),
    "torch.Tensor.repeat": _special("torch.Tensor.repeat", _repeat, _positional),
}
