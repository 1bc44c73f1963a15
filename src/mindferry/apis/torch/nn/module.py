"""The Module class: modes, devices, children, hooks."""

import ast
import re

from ....read.infer import Reading
from ... import Case, Form, rule
from ..._call import Call

STRUCTURE = "structure only; tests/apis/test_module_methods.py runs it"

rule(
    "torch.nn.Module",
    to="mindspore.nn.Cell",
    like="mindspore.nn.Cell",
    differs="a new Cell is in evaluation mode: call set_train() before training",
    cases=[Case("nn.Module", "nn.Cell", runs=False, why="a base class; every converted network runs it")],
)
rule(
    "torch.nn.Module.train",
    to=".set_train",
    args="mode",
    cases=[
        Case("nn.Sigmoid().train()(x)", "nn.Sigmoid().set_train()(x)", shapes=((2, 3),)),
        Case("nn.Sigmoid().train(mode=False)(x)", "nn.Sigmoid().set_train(mode=False)(x)", shapes=((2, 3),)),
    ],
)


@rule(
    "torch.nn.Module.eval",
    cases=[Case("nn.Dropout(0.5).eval()(x)", "nn.Dropout(p=0.5).set_train(False)(x)", shapes=((2, 3),))],
)
def evaluate(call: Call) -> None:
    call.replace(f"{call.target}.set_train(False)")


def _derived_from(reading: Reading) -> set[str]:
    """The classes that others of the project name as their bases."""
    return {base for info in reading.symbols.classes.values() for base in info.bases}


@rule(
    "torch.nn.Module.forward",
    to=".construct",
    like=".construct",
    cases=[
        Case("nn.Sigmoid().forward(x)", "nn.Sigmoid().construct(x)", shapes=((2, 3),)),
    ],
)
def forward(call: Call) -> None:
    """In a class that others are derived from, ms.jit takes a bare super() for the object's own class and never ends."""
    owner: ast.AST | None = call.node if call.receiver is not None and call.target == "super()" else None
    while owner is not None and not isinstance(owner, ast.ClassDef):
        owner = call.reading.source.parents.get(owner)
    if isinstance(owner, ast.ClassDef) and call.receiver is not None:
        qual = call.reading.owners.get(owner, "")
        if qual in call.reading.once(_derived_from):
            call.edits.replace_node(call.receiver, f"super({owner.name}, self)")


@rule(
    "torch.Tensor.forward",
    form=Form.UNKNOWN,
    to=".construct",
    cases=[
        Case(
            "vars()['x'].forward(y)",
            "ms_compat.any_forward(vars()['x'], y)",
            shapes=((2, 3), (2, 3)),
            runs=False,
            why="a tensor has no forward; tests/convert/test_unknown_receivers.py runs it",
        ),
    ],
)
def any_forward(call: Call) -> None:
    """Nothing is known of the receiver: in a network's own methods, it is one of its layers."""
    node: ast.AST | None = call.node
    while node is not None and not isinstance(node, ast.FunctionDef):
        node = call.reading.source.parents.get(node)
    owner = call.reading.source.parents.get(node) if node is not None else None
    if owner is None or not call.reading.symbols.is_part_of_module(call.reading.owners.get(owner, "")):
        call.keep()


@rule(
    "torch.nn.Module.modules",
    cases=[
        Case("nn.ReLU().modules()", "[cell for _, cell in nn.ReLU().cells_and_names()]", runs=False, why=STRUCTURE),
    ],
)
def modules(call: Call) -> None:
    call.replace(f"[cell for _, cell in {call.target}.cells_and_names()]")


rule(
    "torch.nn.Module.children",
    to=".cells",
    cases=[
        Case(
            "list(nn.Sequential(nn.Sigmoid()).children())[0](x)",
            "list(nn.SequentialCell(nn.Sigmoid()).cells())[0](x)",
            shapes=((2, 3),),
        ),
    ],
)


@rule(
    "torch.nn.Module.named_children",
    cases=[
        Case(
            "[m(x) for n, m in nn.Sequential(nn.Sigmoid()).named_children()]",
            "[m(x) for n, m in nn.SequentialCell(nn.Sigmoid()).name_cells().items()]",
            shapes=((2, 3),),
        ),
    ],
)
def named_children(call: Call) -> None:
    call.replace(f"{call.target}.name_cells().items()")


@rule(
    "torch.nn.Module.named_modules",
    args="memo prefix remove_duplicate",
    rename={"prefix": "name_prefix"},
    cases=[
        Case(
            "[m(x) for n, m in nn.Sequential(nn.Sigmoid()).named_modules() if n]",
            "[m(x) for n, m in nn.SequentialCell(nn.Sigmoid()).cells_and_names() if n]",
            shapes=((2, 3),),
        ),
        Case(
            "[m(x) for n, m in nn.Sigmoid().named_modules(prefix='a') if n == 'a']",
            "[m(x) for n, m in nn.Sigmoid().cells_and_names(name_prefix='a') if n == 'a']",
            shapes=((2, 3),),
        ),
    ],
)
def named_modules(call: Call) -> None:
    prefix = f"name_prefix={call.text('prefix')}" if call.has("prefix") else ""
    call.replace(f"{call.target}.cells_and_names({prefix})")


@rule(
    "torch.nn.Module.add_module",
    args="name module",
    like="compat.add_module",
    cases=[
        Case(
            "nn.Module().add_module(*['a', nn.Sigmoid()])",
            "ms_compat.add_module(nn.Cell(), *['a', nn.Sigmoid()])",
            runs=False,
            why=STRUCTURE,
        ),
        Case(
            "nn.Module().add_module('a', nn.Sigmoid())",
            "setattr(nn.Cell(), 'a', nn.Sigmoid())",
            runs=False,
            why=STRUCTURE,
        ),
    ],
)
def add_module(call: Call) -> None:
    name = call.literal("name", "")
    if isinstance(name, str) and not re.fullmatch(r"[\w.-]*", name, re.ASCII):
        call.use_like()  # MindSpore refuses such a name as the beginning of a parameter's
        return
    call.replace(f"setattr({call.target}, {call.text('name')}, {call.text('module')})")


@rule(
    "torch.nn.Module.reset_parameters",
    to="compat.reset_parameters",
    args="self",
    cases=[
        Case(
            "nn.Linear(2, 3).reset_parameters()",
            "ms_compat.reset_parameters(nn.Dense(2, 3))",
            runs=False,
            why=STRUCTURE,
        ),
    ],
)
def reset_parameters(call: Call) -> None:
    if call.target == "super()":  # of a class of torch's: it has not been overridden in between
        call.replace(f"{call.name('compat.reset_layer')}(self)")


@rule(
    "torch.nn.Module.reset_running_stats",
    to="compat.reset_running_stats",
    args="self",
    cases=[
        Case(
            "nn.BatchNorm2d(3).reset_running_stats()",
            "ms_compat.reset_running_stats(nn.BatchNorm2d(3))",
            runs=False,
            why=STRUCTURE,
        ),
    ],
)
def reset_running_stats(call: Call) -> None:
    if call.target == "super()":
        call.keep()


rule(
    "torch.nn.Module.register_module",
    to="compat.add_module",
    args="self name module",
    cases=[
        Case(
            "nn.Module().register_module('a', nn.Sigmoid())",
            "ms_compat.add_module(nn.Cell(), 'a', nn.Sigmoid())",
            runs=False,
            why=STRUCTURE,
        ),
    ],
)
rule(
    "torch.nn.Sequential.add_module",
    to="compat.add_module",
    args="self name module",
    cases=[
        Case(
            "nn.Sequential(nn.Sigmoid()).add_module('a', nn.Sigmoid())",
            "ms_compat.add_module(nn.SequentialCell(nn.Sigmoid()), 'a', nn.Sigmoid())",
            runs=False,
            why=STRUCTURE,
        ),
    ],
)
rule(
    "torch.nn.Module.apply",
    to=".apply",
    args="fn",
    rename={"fn": "fn"},
    cases=[
        Case("nn.Sigmoid().apply(print)(x)", "nn.Sigmoid().apply(print)(x)", shapes=((2, 3),)),
    ],
)
rule(
    "torch.nn.Module.get_submodule",
    to=".get_sub_cell",
    args="target",
    cases=[
        Case(
            "nn.Sequential(nn.Sigmoid()).get_submodule('0')(x)",
            "nn.SequentialCell(nn.Sigmoid()).get_sub_cell('0')(x)",
            shapes=((2, 3),),
        ),
    ],
)
rule(
    "torch.nn.Module.extra_repr",
    to=".extend_repr",
    cases=[
        Case(
            "nn.Sigmoid().extra_repr()",
            "nn.Sigmoid().extend_repr()",
            runs=False,
            why="a string that differs by framework",
        ),
    ],
)

HOOK = "a hook needs a loop around it; tests/apis/test_module_methods.py runs it"
rule(
    "torch.nn.Module.register_forward_hook",
    to=".register_forward_hook",
    args="hook",
    rename={"hook": "hook_fn"},
    cases=[
        Case(
            "nn.Sigmoid().register_forward_hook(hook=print)",
            "nn.Sigmoid().register_forward_hook(hook_fn=print)",
            runs=False,
            why=HOOK,
        ),
    ],
)
rule(
    "torch.nn.Module.register_forward_pre_hook",
    to=".register_forward_pre_hook",
    args="hook",
    rename={"hook": "hook_fn"},
    cases=[
        Case(
            "nn.Sigmoid().register_forward_pre_hook(print)",
            "nn.Sigmoid().register_forward_pre_hook(print)",
            runs=False,
            why=HOOK,
        ),
    ],
)
for name in ("register_full_backward_hook", "register_backward_hook"):
    rule(
        f"torch.nn.Module.{name}",
        to=".register_backward_hook",
        args="hook prepend",
        rename={"hook": "hook_fn"},
        only={"prepend": "False"},
        cases=[
            Case(f"nn.Sigmoid().{name}(print)", "nn.Sigmoid().register_backward_hook(print)", runs=False, why=HOOK),
        ],
    )
rule(
    "torch.nn.Module.register_full_backward_pre_hook",
    to=".register_backward_pre_hook",
    args="hook prepend",
    rename={"hook": "hook_fn"},
    only={"prepend": "False"},
    cases=[
        Case(
            "nn.Sigmoid().register_full_backward_pre_hook(print)",
            "nn.Sigmoid().register_backward_pre_hook(print)",
            runs=False,
            why=HOOK,
        ),
    ],
)
