"""Types and devices of tensors. MindSpore places tensors itself, so `.to(device)`, `.cuda()` and `.cpu()` go; types stay."""

import ast

from ... import Case, Form, rule
from ..._call import Call
from .._framework import DTYPES
from .._typed_tensors import TYPED_NAMES
from ._whole_numbers import lets_gradient_through

WHOLE = frozenset("long int short int8 int16 int32 int64 uint8 bool LongTensor IntTensor BoolTensor ByteTensor".split())

DEVICE_WORDS = (
    "device",
    "dev",
    "gpu",
    "gpus",
    "rank",
    "local_rank",
    "cuda",
    "cpu",
    "gpu_id",
    "device_id",
    "device_ids",
    "map_location",
)


def role(call: Call, node: ast.expr) -> str:
    """What an argument of .to() is: device, dtype, tensor, type name, or '' if it can't be told."""
    kind = call.reading.type(node)
    name = kind.qual.removeprefix("torch.")
    if (kind.kind in ("ref", "value") and name in DTYPES) or (kind.kind == "instance" and kind.qual == "torch.dtype"):
        return "dtype"
    if kind.kind in ("ref", "value") and kind.qual in TYPED_NAMES:
        return "typed"
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("torch."):
        return "typed" if node.value in TYPED_NAMES else ""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "type"
        and not node.args
    ):
        return "dtype"  # x.type(y.type())
    if kind.kind in ("str", "int", "none") or (kind.kind == "instance" and kind.qual == "torch.device"):
        return "device"
    if isinstance(node, ast.Name) and _role_by_name(node) == "device":
        return "device"  # even if it is the argument of a network's forward
    if kind.is_tensor and not _is_named_as_type(call, node):
        return "tensor"
    return "dtype" if kind.is_tensor else _role_by_name(node)


def _is_named_as_type(call: Call, node: ast.expr) -> bool:
    """`x.to(dtype=kind)`, `x.to(hidden_dtype)`: a type, even if it is the argument of a network's forward."""
    return any(each.arg == "dtype" and each.value is node for each in call.node.keywords) or (
        isinstance(node, ast.Name) and _role_by_name(node) == "dtype"
    )


def _role_by_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.slice if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str) else node.value
    word = getattr(node, "id", getattr(node, "attr", getattr(node, "value", "")))
    if not isinstance(word, str):
        return ""
    word = word.lower()
    if word in DEVICE_WORDS or word.endswith(("_device", "_gpu", "_rank")) or word.startswith("device_"):
        return "device"
    return "dtype" if word.endswith(("dtype", "data_type")) else ""


def dtype_text(call: Call, node: ast.expr) -> str:
    """The argument as a MindSpore type; '' if it is none."""
    match role(call, node):
        case "dtype":
            return call.of(node)
        case "tensor":
            return f"{call.of(node)}.dtype"
        case "typed":
            name = node.value if isinstance(node, ast.Constant) else call.reading.type(node).qual
            return call.name(f"mindspore.{TYPED_NAMES[str(name)]}")
    return ""


def _destinations(call: Call) -> list[ast.expr]:
    named = [keyword.value for keyword in call.node.keywords if keyword.arg in ("device", "dtype", "other")]
    return [
        each
        for each in (*call.node.args, *named)
        if not (isinstance(each, ast.Constant) and isinstance(each.value, bool))
    ]


@rule(
    "torch.Tensor.to",
    args="other",
    differs="devices go: MindSpore places tensors itself",
    cases=[
        Case("x.to('cpu') * 2", "x * 2", shapes=((2, 3),)),
        Case(
            "x.to(torch.device('cuda:0'), non_blocking=True) * 2",
            "x * 2",
            shapes=((2, 3),),
            runs=False,
            why="needs a GPU in torch",
        ),
        Case("x.to(torch.float64)", "x.to(ms.float64)", shapes=((2, 3),)),
        Case("x.to(dtype=torch.int32)", "x.to(ms.int32)", inputs=("float32[2,3](0,9)",), gradient=False),
        Case("x.to('cpu', torch.float16)", "x.to(ms.float16)", shapes=((2, 3),)),
        Case(
            "x.to(device=y.device, dtype=y.dtype)", "x.to(y.dtype)", inputs=("int64[2,3]", "float32[2]"), gradient=False
        ),
        Case("x.to(y)", "x.to(y.dtype)", inputs=("int64[2,3]", "float32[2]"), gradient=False),
        Case("x.to(memory_format=torch.channels_last) * 2", "x * 2", shapes=((1, 2, 3, 4),)),
    ],
)
def to(call: Call) -> None:
    places = _destinations(call)
    roles = [role(call, each) for each in places]
    if call.is_opaque or "" in roles:
        call.ask(
            "whether the argument is a device or a type can't be told", "write x.to(dtype), or leave the device out"
        )
        return
    types = [text for each in places if (text := dtype_text(call, each))]
    target = _cast_subject(call, is_whole=any(_is_whole(call, each) for each in places))
    call.replace(f"{target}.to({types[-1]})" if types else call.target)


@rule(
    "torch.Tensor.type",
    args="dtype non_blocking",
    cases=[
        Case("x.type(torch.int64)", "x.to(ms.int64)", inputs=("float32[2,3](0,9)",), gradient=False),
        Case("x.type(torch.FloatTensor)", "x.to(ms.float32)", inputs=("int64[2,3]",)),
        Case("x.type(y.type())", "x.to(y.dtype)", inputs=("int64[2,3]", "float32[2]"), gradient=False),
        Case(
            "x + (x.type() == y.type())",
            "x + (x.dtype == y.dtype)",
            inputs=("float32[2,3]", "float32[3]"),
            gradient=False,
        ),
        Case("x.type('torch.LongTensor')", "x.to(ms.int64)", inputs=("float32[2,3](0,9)",), gradient=False),
        Case(
            "x.type(torch.cuda.FloatTensor)",
            "x.to(ms.float32)",
            inputs=("int64[2,3]",),
            runs=False,
            why="needs a GPU in torch",
        ),
    ],
)
def type_(call: Call) -> None:
    if not call.has("dtype"):
        parent = call.edits.source.parents.get(call.node)
        if isinstance(parent, ast.Compare) and not all(
            _is_type_call(each) for each in (parent.left, *parent.comparators)
        ):
            call.leave(
                "without an argument it names torch's own tensor class", "compare x.dtype with ms.float32 and its like"
            )
        else:
            call.replace(f"{call.target}.dtype")
    elif _is_told(call, call.given["dtype"]) and (text := dtype_text(call, call.given["dtype"])):
        call.replace(f"{_cast_subject(call, _is_whole(call, call.given['dtype']))}.to({text})")
    else:
        call.ask("the type can't be told", "write x.to(ms.float32) or the type that is meant")


def _is_told(call: Call, node: ast.expr) -> bool:
    """Whether more than its name says what the argument is: a variable called dtype may hold torch.FloatTensor."""
    return call.reading.type(node).kind != "unknown" or not _role_by_name(node) or _is_type_call(node)


def _is_type_call(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "type"
        and not node.args
    )


rule(
    "torch.Tensor.type_as",
    to=".type_as",
    args="other",
    like=".type_as",
    cases=[
        Case("x.type_as(y)", "x.type_as(y)", inputs=("int64[2,3]", "float32[2]"), gradient=False),
    ],
)


def _cast(method: str, dtype: str, native: str = "") -> None:
    inputs = ("bool[2,3]",) if method == "bool" else ("float32[2,3](0,9)",)
    after = f"x.{native}()" if native else f"x.to(ms.{dtype})"

    @rule(
        f"torch.Tensor.{method}",
        args="memory_format",
        cases=[Case(f"x.{method}()", after, inputs=inputs, gradient=False)],
    )
    def cast(call: Call) -> None:
        target = _cast_subject(call, is_whole="float" not in dtype and "complex" not in dtype)
        if method == "byte" and _is_index(call):  # which chooses by truth; MindSpore takes no bytes there
            call.replace(f"{target}.bool()")
            return
        call.replace(f"{target}.{native}()" if native else f"{target}.to({call.name(f'mindspore.{dtype}')})")


def _is_index(call: Call) -> bool:
    """Whether it stands in brackets: x[mask.byte()], x[mask.byte(), 0]."""
    parent = call.edits.source.parents.get(call.node)
    if isinstance(parent, ast.Tuple):
        parent = call.edits.source.parents.get(parent)
    return isinstance(parent, ast.Subscript) and parent.value is not call.node


def _cast_subject(call: Call, is_whole: bool) -> str:
    """What is cast; to whole numbers without the gradient that torch does not let through either."""
    if is_whole and lets_gradient_through(call):
        return f"{call.name('mindspore.ops.stop_gradient')}({call.of(call.subject)})"
    return call.target


def _is_whole(call: Call, node: ast.expr) -> bool:
    """Whether an argument names a type of whole numbers or truth values."""
    kind = call.reading.type(node)
    name = kind.qual.rpartition(".")[2] if kind.kind in ("ref", "value") else ""
    return name in WHOLE


for _method, _dtype in (
    ("float", "float32"),
    ("half", "float16"),
    ("double", "float64"),
    ("long", "int64"),
    ("int", "int32"),
    ("short", "int16"),
    ("byte", "uint8"),
    ("bool", "bool_"),
):
    _cast(_method, _dtype, native=_method)
for _method, _dtype in (("char", "int8"), ("cfloat", "complex64"), ("cdouble", "complex128")):
    _cast(_method, _dtype)
rule(
    "torch.Tensor.bfloat16",
    to=".bfloat16",
    args="memory_format",
    drop="memory_format",
    cases=[
        Case("x.bfloat16().float()", "x.bfloat16().float()", shapes=((2, 3),), gradient=False),
    ],
)


def _stays(method: str, args: str, *cases: Case) -> None:
    @rule(f"torch.Tensor.{method}", args=args, differs="MindSpore places tensors itself", cases=list(cases))
    def stay(call: Call) -> None:
        call.replace(call.target)


_stays("cpu", "memory_format", Case("x.cpu() * 2", "x * 2", shapes=((2, 3),)))
_stays(
    "cuda",
    "device non_blocking memory_format",
    Case("x.cuda(non_blocking=True)", "x", shapes=((2, 3),), runs=False, why="needs a GPU in torch"),
)
_stays("pin_memory", "device", Case("x.pin_memory()", "x", shapes=((2, 3),), runs=False, why="needs a GPU in torch"))
_stays("share_memory_", "", Case("x.share_memory_() * 2", "x * 2", shapes=((2, 3),), gradient=False))
_stays("as_subclass", "cls", Case("x.as_subclass(torch.Tensor) * 2", "x * 2", shapes=((2, 3),)))


def in_torch_file(call: Call) -> bool:
    return call.edits.source.mentions("torch")


@rule(
    "torch.Tensor.to",
    form=Form.UNKNOWN,
    args="other",
    cases=[
        Case("vars()['x'].to('cpu') * 2", "vars()['x'] * 2", shapes=((2, 3),)),
        Case("vars()['x'].to(y)", "ms_compat.any_to(vars()['x'], y)", shapes=((2, 3), (1,))),
    ],
)
def any_to(call: Call) -> None:
    """A receiver that nothing is known of: only where every argument is certainly a device."""
    places = _destinations(call)
    is_device = bool(places) and all(role(call, each) == "device" and _names_device(call, each) for each in places)
    others = {keyword.arg for keyword in call.node.keywords} - {"device", "non_blocking"}
    if in_torch_file(call) and is_device and not others:
        call.replace(call.target)
    else:
        call.keep()


def _names_device(call: Call, node: ast.expr) -> bool:
    """Known by type, by name, or a device string; a plain string or number may mean anything."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.partition(":")[0] in ("cpu", "cuda", "mps", "xpu", "npu")
    kind = call.reading.type(node)
    return (kind.kind == "instance" and kind.qual == "torch.device") or _role_by_name(node) == "device"


@rule(
    "torch.Tensor.cuda",
    form=Form.UNKNOWN,
    args="device non_blocking",
    cases=[
        Case(
            "vars()['x'].cuda(non_blocking=True)",
            "vars()['x']",
            shapes=((2, 3),),
            runs=False,
            why="needs a GPU in torch",
        ),
    ],
)
def any_cuda(call: Call) -> None:
    if in_torch_file(call) and len(call.node.args) <= 1 and not call.extra:
        call.replace(call.target)
    else:
        call.keep()


@rule("torch.Tensor.cpu", form=Form.UNKNOWN, cases=[Case("vars()['x'].cpu() * 2", "vars()['x'] * 2", shapes=((2, 3),))])
def any_cpu(call: Call) -> None:
    if in_torch_file(call) and not call.node.args and not call.node.keywords:
        call.replace(call.target)
    else:
        call.keep()


@rule(
    "torch.Tensor.numpy",
    form=Form.UNKNOWN,
    cases=[Case("vars()['x'].numpy() * 2", "vars()['x'].asnumpy() * 2", inputs=("int64[2,3]",))],
)
def any_numpy(call: Call) -> None:
    if in_torch_file(call) and not call.node.args and not call.node.keywords:
        call.replace(f"{call.target}.asnumpy()")
    else:
        call.keep()


@rule(
    "torch.Tensor.size",
    form=Form.UNKNOWN,
    args="dim",
    cases=[
        Case("vars()['x'].size(0) * x", "vars()['x'].shape[0] * x", shapes=((2, 3),)),
        Case("vars()['x'].size()[1] * x", "ms_compat.size_of(vars()['x'])[1] * x", shapes=((2, 3),)),
    ],
)
def any_size(call: Call) -> None:
    """Of all that has a size, only a tensor takes the number of a dimension."""
    count = len(call.node.args) + len(call.node.keywords)
    if in_torch_file(call) and isinstance(call.literal("dim"), int) and count == 1:
        call.replace(f"{call.target}.shape[{call.text('dim')}]")
    elif in_torch_file(call) and not count and _is_taken_apart(call):
        call.replace(f"{call.name('compat.size_of')}({call.target})")
    else:
        call.keep()


def _is_taken_apart(call: Call) -> bool:
    """`b, c = x.size()`, `x.size()[0]`, `len(x.size())`: a size with several parts."""
    match call.reading.source.parents.get(call.node):
        case ast.Assign(targets=[ast.Tuple()]) | ast.Subscript() | ast.Starred():
            return True
        case ast.Call(func=ast.Name(id="len" | "tuple" | "list")):
            return True
    return False
