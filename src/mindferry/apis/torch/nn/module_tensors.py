"""What a module holds: parameters, buffers, its state, and moving or casting them."""

import ast

from ... import Case, rule
from ..._call import Call
from ._context import is_thawed_later, parent_of

STRUCTURE = "structure only; tests/apis/test_module_methods.py runs it"
FLOATS = {"half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16"}


def _goes_to_an_optimizer(call: Call) -> bool:
    """Frozen parameters make no difference to an optimizer, so the native list does, unless they are thawed later."""
    parent = parent_of(call)
    if not isinstance(parent, ast.Call) or is_thawed_later(call):
        return False
    callee = call.reading.type(parent.func)
    return callee.kind == "ref" and call.reading.symbols.origin(callee.qual).startswith("torch.optim.")


def _is_clipped(call: Call) -> bool:
    """clip_grad_norm_(net.parameters(), 1): frozen parameters have no gradient that could be clipped."""
    parent = parent_of(call)
    if not isinstance(parent, ast.Call) or parent.args[:1] != [call.node]:
        return False
    callee = call.reading.type(parent.func)
    return callee.kind == "ref" and call.reading.symbols.origin(callee.qual).startswith("torch.nn.utils.clip_grad_")


def _are_frozen(call: Call) -> bool:
    """`for p in net.parameters(): p.requires_grad = False`: buffers and running statistics learn nothing anyway."""
    match parent_of(call):
        case ast.For(target=ast.Name(id=name), iter=node, body=body) if node is call.node:
            return all(_freezes(statement, name) for statement in body)
    return False


def _freezes(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=frozen), attr="requires_grad")], value=ast.Constant(value=False)
        ):
            return frozen == name
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=frozen), attr="requires_grad_"), args=[ast.Constant(value=False)]
            )
        ):
            return frozen == name
    return False


def _are_trained_ones_chosen(call: Call) -> bool:
    """`[p for p in net.parameters() if p.requires_grad]`, or a filter that says so: frozen ones are left out anyway."""
    match parent_of(call):
        case ast.comprehension(target=ast.Name(id=name), iter=node, ifs=tests) if node is call.node:
            return any(_asks_for_gradient(test, name) for test in tests)
        case ast.Call(
            func=ast.Name(id="filter"),
            args=[ast.Lambda(args=ast.arguments(args=[ast.arg(arg=name)]), body=test), node],
        ) if node is call.node:
            return _asks_for_gradient(test, name)
    return False


def _asks_for_gradient(test: ast.expr, name: str) -> bool:
    match test:
        case ast.Attribute(value=ast.Name(id=asked), attr="requires_grad"):
            return asked == name
        case ast.BoolOp(op=ast.And(), values=parts):
            return any(_asks_for_gradient(part, name) for part in parts)
    return False


@rule(
    "torch.nn.Module.parameters",
    to="compat.parameters",
    args="self recurse",
    like="compat.parameters",
    differs="get_parameters() would include buffers; an optimizer gets trainable_params()",
    cases=[
        Case(
            "[p * x for p in nn.PReLU().parameters()]",
            "[p * x for p in ms_compat.parameters(nn.PReLU())]",
            shapes=((2, 3),),
            gradient=False,
        ),
        Case(
            "list(nn.Linear(2, 3).parameters(recurse=False))",
            "list(ms_compat.parameters(nn.Dense(2, 3), recurse=False))",
            runs=False,
            why=STRUCTURE,
        ),
        Case(
            "[p * x for p in nn.PReLU().parameters() if p.requires_grad]",
            "[p * x for p in nn.PReLU().trainable_params() if getattr(p, 'requires_grad', False)]",
            shapes=((2, 3),),
            gradient=False,
        ),
    ],
)
def parameters(call: Call) -> None:
    if len(call.given) != 1:
        call.use_like()
    elif _goes_to_an_optimizer(call) or _are_trained_ones_chosen(call) or _is_clipped(call):
        call.replace(f"{call.target}.trainable_params()")
    elif _are_frozen(call):
        call.replace(f"{call.target}.get_parameters()")
    elif not _are_gone_through(call):  # MindSpore's are a list, of which next() knows nothing
        call.use_like()


def _are_gone_through(call: Call) -> bool:
    """Whether they are taken one after the other, all of them, where they stand."""
    match parent_of(call):
        case ast.For(iter=node) | ast.comprehension(iter=node) | ast.Starred(value=node):
            return node is call.node
        case ast.Call(func=ast.Name(id="list" | "tuple" | "zip" | "map" | "sum" | "enumerate" | "filter" | "sorted")):
            return True
    return False


@rule(
    "torch.nn.Module.named_parameters",
    to="compat.named_parameters",
    args="self prefix recurse",
    drop="remove_duplicate",
    like="compat.named_parameters",
    differs="names are torch's: weight for gamma, so that a test on a name keeps its meaning",
    cases=[
        Case(
            "[p * x for n, p in nn.BatchNorm1d(3).named_parameters() if n == 'weight']",
            "[p * x for n, p in ms_compat.named_parameters(nn.BatchNorm1d(3)) if n == 'weight']",
            shapes=((2, 3),),
            gradient=False,
        ),
    ],
)
def named_parameters(call: Call) -> None:
    if len(call.given) != 1:
        call.use_like()


rule(
    "torch.nn.Module.buffers",
    to="compat.buffers",
    args="self recurse",
    like="compat.buffers",
    cases=[
        Case(
            "[b * x for b in nn.BatchNorm1d(3, track_running_stats=False).buffers()] + [x]",
            "[b * x for b in ms_compat.buffers(ms_compat.BatchNorm1d(3, track_running_stats=False))] + [x]",
            shapes=((2, 3),),
        ),
    ],
)
rule(
    "torch.nn.Module.named_buffers",
    to="compat.named_buffers",
    args="self prefix recurse",
    drop="remove_duplicate",
    like="compat.named_buffers",
    cases=[
        Case(
            "[b * x for n, b in nn.BatchNorm1d(3).named_buffers() if n == 'running_var']",
            "[b * x for n, b in ms_compat.named_buffers(nn.BatchNorm1d(3)) if n == 'running_var']",
            shapes=((2, 3),),
        ),
    ],
)
rule(
    "torch.nn.Module.register_buffer",
    to="compat.register_buffer",
    args="self name tensor persistent",
    like="compat.register_buffer",
    differs="a parameter without gradient, so that checkpoints hold it; not counted by parameters()",
    cases=[
        Case(
            "nn.Module().register_buffer('a', x)",
            "ms_compat.register_buffer(nn.Cell(), 'a', x)",
            shapes=((2, 3),),
            runs=False,
            why=STRUCTURE,
        ),
    ],
)


@rule(
    "torch.nn.Module.register_parameter",
    args="name param",
    cases=[
        Case(
            "nn.Module().register_parameter('a', nn.Parameter(x))",
            "setattr(nn.Cell(), 'a', ms.Parameter(x.copy()))",
            shapes=((2, 3),),
            runs=False,
            why=STRUCTURE,
        ),
        Case("nn.Module().register_parameter('a', None)", "setattr(nn.Cell(), 'a', None)", runs=False, why=STRUCTURE),
    ],
)
def register_parameter(call: Call) -> None:
    call.replace(f"setattr({call.target}, {call.text('name')}, {call.text('param')})")


for name in ("get_parameter", "get_buffer"):
    rule(
        f"torch.nn.Module.{name}",
        to="compat.get_parameter",
        args="self target",
        cases=[
            Case(
                f"nn.Linear(2, 3).{name}('weight')",
                "ms_compat.get_parameter(nn.Dense(2, 3), 'weight')",
                runs=False,
                why=STRUCTURE,
            ),
        ],
    )
rule(
    "torch.nn.Module.requires_grad_",
    to="compat.set_requires_grad",
    args="self requires_grad",
    cases=[
        Case(
            "nn.Sigmoid().requires_grad_(False)(x)",
            "ms_compat.set_requires_grad(nn.Sigmoid(), False)(x)",
            shapes=((2, 3),),
        ),
    ],
)
rule(
    "torch.nn.Module._load_from_state_dict",
    missing="MindSpore loads parameters by name, without a method a module",
    strategy="equivalent",
    advice="rename the entries of the checkpoint before load_state_dict",
)

rule(
    "torch.nn.Module.zero_grad",
    to="compat.clear_gradients",
    args="self set_to_none",
    drop="set_to_none",
    differs="a training loop that converts whole needs none: its gradients are new at each step",
    cases=[
        Case(
            "[m.zero_grad() for m in [nn.Sigmoid()]]",
            "[ms_compat.clear_gradients(m) for m in [nn.Sigmoid()]]",
            runs=False,
            why=STRUCTURE,
        )
    ],
)


@rule(
    "torch.nn.Module.to",
    to="compat.cell_to",
    args="device dtype non_blocking",
    cases=[
        Case("nn.Sigmoid().to('cuda')(x)", "nn.Sigmoid()(x)", shapes=((2, 3),)),
        Case("nn.Sigmoid().to(torch.device('cpu'))(x)", "nn.Sigmoid()(x)", shapes=((2, 3),)),
        Case("nn.Sigmoid().to(dtype=torch.float32)(x)", "nn.Sigmoid().to(ms.float32)(x)", shapes=((2, 3),)),
        Case("nn.Sigmoid().to(torch.float32)(x)", "nn.Sigmoid().to(ms.float32)(x)", shapes=((2, 3),)),
        Case("nn.Sigmoid().to(x)(x)", "nn.Sigmoid()(x)", shapes=((2, 3),)),
    ],
)
def to(call: Call) -> None:
    dtypes = [name for name in ("device", "dtype") if call.has(name) and _is_dtype(call, name)]
    if dtypes:
        call.replace(f"{call.target}.to({call.text(dtypes[0])})")
    elif not call.has("dtype") and (call.literal("device", "") is not ... or _is_device(call)):
        call.replace(_itself(call))
    else:
        arguments = ", ".join(
            call.of(each) for each in (*call.node.args, *(keyword.value for keyword in call.node.keywords))
        )
        call.replace(f"{call.name('compat.cell_to')}({call.target}, {arguments})")


def _itself(call: Call) -> str:
    """The network that such a method returns: of `super().to(device)`, the object and not what super() is."""
    return "self" if call.target.startswith("super(") else call.target


def _is_dtype(call: Call, name: str) -> bool:
    kind = call.kind(name)
    return kind.qual == "torch.dtype" or (
        kind.kind == "ref"
        and kind.qual.rpartition(".")[2] in {"float16", "half", "float32", "float", "float64", "double", "bfloat16"}
    )


def _is_device(call: Call) -> bool:
    kind, text = (
        call.kind("device"),
        call.reading.source.text(call.given["device"]).lower() if call.has("device") else "",
    )
    return (
        kind.qual == "torch.device"
        or kind.kind in ("str", "int", "tensor")
        or any(word in text for word in ("device", "cuda", "gpu", "rank"))
    )


for name in ("cuda", "cpu", "xpu", "ipu", "to_empty", "compile"):

    @rule(
        f"torch.nn.Module.{name}",
        args="device",
        differs="no meaning in MindSpore, so it goes",
        cases=[
            Case(
                "nn.Sigmoid().cpu()(x)" if name == "cpu" else f"nn.Sigmoid().{name}()",
                "nn.Sigmoid()(x)" if name == "cpu" else "nn.Sigmoid()",
                shapes=((2, 3),),
                runs=name == "cpu",
                why="nothing is left of it",
            ),
        ],
    )
    def disappear(call: Call) -> None:
        call.replace(_itself(call))


rule(
    "torch.nn.Module.share_memory",
    missing="processes can't share a network's weights in memory, so each would train a copy of its own",
    strategy="equivalent",
    advice="train data-parallel: start the script with msrun, and reduce the gradients",
)


def _cast(name: str, dtype: str) -> None:
    @rule(
        f"torch.nn.Module.{name}",
        cases=[
            Case(f"nn.Sigmoid().{name}()(x)", f"nn.Sigmoid().to(ms.{dtype})(x)", shapes=((2, 3),)),
        ],
    )
    def cast(call: Call) -> None:
        call.replace(f"{call.target}.to({call.name(f'mindspore.{dtype}')})")


for method, dtype in FLOATS.items():
    _cast(method, dtype)


@rule(
    "torch.nn.Module.type",
    args="dst_type",
    cases=[
        Case("nn.Sigmoid().type(torch.float32)(x)", "nn.Sigmoid().to(ms.float32)(x)", shapes=((2, 3),)),
    ],
)
def to_type(call: Call) -> None:
    call.replace(f"{call.target}.to({call.text('dst_type')})")
