"""torch.save and torch.load: a state dict is a MindSpore checkpoint; anything around it goes into the same file as JSON."""

import ast

from ... import Case, rule
from ..._call import Call

FILE = "files are the business of tests/optim/test_saving.py"


def _is_checkpoint_name(node: ast.expr | None) -> bool:
    """A literal, or the end of one that is put together, that MindSpore can use unchanged (a pass renames .pth and .pt)."""
    match node:
        case ast.JoinedStr(values=[*_, last]) | ast.BinOp(op=ast.Add(), right=last):
            node = last
        case ast.BinOp(op=ast.Mod(), left=ast.Constant() as format):
            node = format
        case ast.Call(func=ast.Attribute(value=ast.Constant() as format, attr="format")):
            node = format
        case ast.Call(func=ast.Attribute(attr="join"), args=[_, *_, last], keywords=[]):  # os.path.join
            node = last
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.endswith((".ckpt", ".pth", ".pt", ".pth.tar"))
    )


@rule(
    "torch.save",
    to="compat.save",
    args="obj f pickle_module pickle_protocol _use_new_zipfile_serialization",
    drop="pickle_module pickle_protocol _use_new_zipfile_serialization",
    like="compat.save",
    differs="the file is a MindSpore checkpoint; a whole network is pickled into it, and needs weights_only=False to load, as in torch",
    cases=[
        Case(
            'torch.save(nn.ReLU().state_dict(), "net.ckpt")',
            'ms.save_checkpoint(nn.ReLU().state_dict(), "net.ckpt")',
            runs=False,
            why=FILE,
        ),
        *(
            Case(
                f"torch.save(nn.ReLU().state_dict(), {name}.pth'{rest})",
                f"ms.save_checkpoint(nn.ReLU().state_dict(), {name}.ckpt'{rest})",
                runs=False,
                why=FILE,
            )
            for name, rest in (("'a%d", " % 3"), ("'a{}", ".format(3)"), ("'a' + 'b", ""))
        ),
        Case("torch.save({'epoch': 3}, 'last.pth')", "ms_compat.save({'epoch': 3}, 'last.ckpt')", runs=False, why=FILE),
    ],
)
def save(call: Call) -> None:
    match call.given.get("obj"):
        case ast.Call(func=ast.Attribute(attr="state_dict"), args=[], keywords=[]) as state:
            owner = call.reading.type(state.func.value)  # type: ignore[attr-defined]
            is_network = owner.kind == "instance" and call.reading.symbols.is_module(owner.qual)
            if is_network and _is_checkpoint_name(call.given.get("f")):
                call.use("mindspore.save_checkpoint")


@rule(
    "torch.load",
    to="compat.load",
    args="f map_location pickle_module",
    drop="map_location pickle_module mmap",
    like="compat.load",
    differs="reads MindSpore checkpoints; a PyTorch file is refused, with the command that converts it",
    cases=[
        Case('torch.load("net.ckpt", map_location="cpu")', 'ms_compat.load("net.ckpt")', runs=False, why=FILE),
        Case(
            "torch.load('a.pth', weights_only=False)",
            "ms_compat.load('a.ckpt', weights_only=False)",
            runs=False,
            why=FILE,
        ),
    ],
)
def load(call: Call) -> None:
    if call.literal("weights_only", True) is True:
        call.set(weights_only=None)


rule(
    "torch.serialization.safe_globals",
    to="compat.safe_globals",
    args="safe_globals",
    like="compat.safe_globals",
    cases=[
        Case(
            "torch.serialization.safe_globals([])",
            "ms_compat.safe_globals([])",
            runs=False,
            why="tests/weights/test_trusted.py loads with it",
        )
    ],
)
rule(
    "torch.serialization.add_safe_globals",
    to="compat.add_safe_globals",
    args="safe_globals",
    like="compat.add_safe_globals",
    cases=[
        Case(
            "torch.serialization.add_safe_globals([])",
            "ms_compat.add_safe_globals([])",
            runs=False,
            why="tests/weights/test_trusted.py loads with it",
        )
    ],
)
