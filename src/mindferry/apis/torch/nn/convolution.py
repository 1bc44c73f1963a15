"""Convolutions. torch adds a bias and pads nothing unless told otherwise; mindspore.nn does the reverse."""

import ast

from ....read.infer import Reading
from ... import Case, rule
from ..._call import Call

ARGS = "in_channels out_channels kernel_size stride padding dilation groups bias padding_mode device dtype"
PARAMS = {"weight": "weight", "bias": "bias", "groups": "group"}


def _is_given_pairs(call: Call) -> bool:
    """`def __init__(self, padding=0)` seems to take a number, and `Block(kernel_size=(1, 7), padding=(0, 3))` gives it a pair."""
    name = getattr(call.given["padding"], "id", "")
    return bool(name) and name in call.reading.once(_given_pairs)


def _given_pairs(reading: Reading) -> set[str | None]:
    """The keywords that some call gives a pair to."""
    return {each.arg for each in reading.source.of(ast.keyword) if isinstance(each.value, ast.Tuple)}


def _may_be_list(call: Call, name: str) -> bool:
    """A list, which MindSpore's layer refuses: it stands there, or this file gives one to a variable of that name."""
    node = call.given.get(name)
    if node is None or isinstance(node, ast.Constant | ast.Tuple):
        return False
    if isinstance(call.literal(name), list) or call.kind(name).kind == "list":
        return True
    word = getattr(node, "id", getattr(node, "attr", ""))
    return bool(word) and word in call.reading.once(_given_lists)


def _given_lists(reading: Reading) -> set[str | None]:
    """The variables, attributes and keywords that the file gives a list to."""
    of = reading.source.of
    stored = [target for each in of(ast.Assign) if _is_list(each.value) for target in each.targets]
    words = [getattr(target, "id", getattr(target, "attr", "")) for target in stored]
    return {*words, *(each.arg for each in of(ast.keyword) if _is_list(each.value))}


def _is_list(node: ast.expr) -> bool:
    """`[3, 3]`, `[k] * 2`."""
    return isinstance(node.left if isinstance(node, ast.BinOp) else node, ast.List | ast.ListComp)


@rule(
    "torch.nn.Conv2d",
    to="mindspore.nn.Conv2d",
    args=ARGS,
    rename={"groups": "group", "bias": "has_bias"},
    defaults={"has_bias": "True", "pad_mode": "'pad'"},
    drop="device",
    only={"padding_mode": "'zeros'", "dtype": "None"},
    positional=4,
    like="compat.Conv2d",
    params=PARAMS,
    differs="has_bias and pad_mode have other defaults; padding is one number or (top, bottom, left, right)",
    cases=[
        Case("nn.Conv2d(3, 8, 3)", "nn.Conv2d(3, 8, 3, has_bias=True, pad_mode='pad')", shapes=((2, 3, 9, 9),)),
        Case(
            "nn.Conv2d(3, 8, 3, padding=(1, 2), bias=False)",
            "nn.Conv2d(3, 8, 3, padding=(1, 1, 2, 2), has_bias=False, pad_mode='pad')",
            shapes=((2, 3, 9, 9),),
        ),
        Case(
            "nn.Conv2d(4, 8, (3, 5), 2, 1, groups=2)",
            "nn.Conv2d(4, 8, (3, 5), 2, padding=1, group=2, has_bias=True, pad_mode='pad')",
            shapes=((2, 4, 9, 11),),
        ),
        Case(
            "nn.Conv2d(1, 4, (5, 3), (1, 2), (2, 1), (1, 1), 1, False, 'zeros')",
            "nn.Conv2d(1, 4, (5, 3), (1, 2), padding=(2, 2, 1, 1), dilation=(1, 1), group=1, has_bias=False, pad_mode='pad')",
            shapes=((2, 1, 9, 9),),
        ),
        Case(
            "nn.Conv2d(3, 8, 4, padding='same', dilation=2)",
            "nn.Conv2d(3, 8, 4, dilation=2, pad_mode='same', has_bias=True)",
            shapes=((2, 3, 9, 9),),
        ),
        Case(
            "nn.Conv2d(3, 8, 3, padding=1, padding_mode='reflect')",
            "ms_compat.Conv2d(3, 8, 3, padding=1, padding_mode='reflect')",
            shapes=((2, 3, 9, 9),),
        ),
        Case(
            "nn.Conv2d(3, 8, 3, padding=(1, 2), padding_mode='circular')",
            "ms_compat.Conv2d(3, 8, 3, padding=(1, 2), padding_mode='circular')",
            shapes=((2, 3, 9, 9),),
        ),
        Case("nn.Conv2d(3, 8, [3, 2], 1, (1, 0))", "ms_compat.Conv2d(3, 8, [3, 2], 1, (1, 0))", shapes=((2, 3, 9, 9),)),
        Case("nn.Conv2d(3, 8, 3, padding=[1, 2])", "ms_compat.Conv2d(3, 8, 3, padding=[1, 2])", shapes=((2, 3, 9, 9),)),
        Case(
            "nn.Conv2d(**{'in_channels': 3, 'out_channels': 4, 'kernel_size': 4, 'padding': 'same'})",
            "ms_compat.Conv2d(**{'in_channels': 3, 'out_channels': 4, 'kernel_size': 4, 'padding': 'same'})",
            shapes=((3, 9, 9),),
        ),
    ],
)
def conv2d(call: Call) -> None:
    padding = call.literal("padding", 0)
    if any(_may_be_list(call, name) for name in ("kernel_size", "stride", "dilation")):
        call.use_like()
    elif isinstance(padding, str):
        call.set(padding=None, pad_mode=repr(padding))
    elif isinstance(padding, tuple) and len(padding) == 2:
        call.set(padding=repr((padding[0], padding[0], padding[1], padding[1])))  # top, bottom, left, right
    elif isinstance(padding, tuple | list) or (
        padding is ... and (call.kind("padding").kind != "int" or _is_given_pairs(call))
    ):
        call.use_like()


FOLDED = ("weight_norm", "spectral_norm", "parametri")  # who folds a weight wants torch's axes
SETTINGS = frozenset(
    "kernel_size stride padding dilation groups padding_mode _conv_forward".split()
)  # torch has pairs of some


@rule(
    "torch.nn.Conv1d",
    to="mindspore.nn.Conv1d",
    args=ARGS,
    rename={"groups": "group", "bias": "has_bias"},
    defaults={"has_bias": "True", "pad_mode": "'pad'"},
    drop="device",
    only={"padding_mode": "'zeros'", "dtype": "None"},
    positional=4,
    like="compat.Conv1d",
    params=PARAMS,
    differs="has_bias and pad_mode have other defaults; sizes are numbers; the weight is (out, in, 1, width)",
    cases=[
        Case("nn.Conv1d(3, 8, 3)", "nn.Conv1d(3, 8, 3, has_bias=True, pad_mode='pad')", shapes=((2, 3, 9),)),
        Case(
            "nn.Conv1d(4, 8, kernel_size=5, stride=2, padding=2, dilation=2, groups=2, bias=False)",
            "nn.Conv1d(4, 8, kernel_size=5, stride=2, padding=2, dilation=2, group=2, has_bias=False, pad_mode='pad')",
            shapes=((2, 4, 19),),
        ),
        Case("nn.Conv1d(3, 8, 4, padding='same')", "ms_compat.Conv1d(3, 8, 4, padding='same')", shapes=((2, 3, 9),)),
        Case("nn.Conv1d(3, 8, 4, padding=(1,))", "ms_compat.Conv1d(3, 8, 4, padding=(1,))", shapes=((3, 9),)),
        Case(
            "nn.Conv1d(3, 8, 5, padding=2, padding_mode='circular')",
            "ms_compat.Conv1d(3, 8, 5, padding=2, padding_mode='circular')",
            shapes=((2, 3, 9),),
        ),
        Case(
            "nn.Conv1d(3, 8, 5, padding='same', padding_mode='reflect')",
            "ms_compat.Conv1d(3, 8, 5, padding='same', padding_mode='reflect')",
            shapes=((3, 9),),
        ),
    ],
)
def conv1d(call: Call) -> None:
    """Without axes of their own, sizes are plain numbers in MindSpore's layer; who asks it for them wants torch's tuples."""
    sizes = [name for name in ("kernel_size", "stride", "padding", "dilation") if call.has(name)]
    are_numbers = all(call.kind(name).kind == "int" for name in sizes)
    is_asked = bool(SETTINGS & call.reading.symbols.mentioned) or any(map(call.reading.source.mentions, FOLDED))
    if not are_numbers or is_asked or _is_given_tuples(call, sizes):
        call.use_like()


def _is_given_tuples(call: Call, names: list[str]) -> bool:
    """`def __init__(self, kernel_size=3)` seems to take a number, and a caller may give it a tuple."""
    given = call.reading.once(_given_pairs) | call.reading.once(_given_lists)
    return any(getattr(call.given[name], "id", "") in given for name in names)


rule(
    "torch.nn.Conv3d",
    to="compat.Conv3d",
    args=ARGS,
    like="compat.Conv3d",
    params=PARAMS,
    differs="a subclass of mindspore.nn.Conv3d that takes unbatched inputs and torch's padding",
    cases=[
        Case("nn.Conv3d(3, 4, 3)", "ms_compat.Conv3d(3, 4, 3)", shapes=((2, 3, 5, 6, 7),)),
        Case(
            "nn.Conv3d(4, 4, (1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1), groups=2, bias=False)",
            "ms_compat.Conv3d(4, 4, (1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1), groups=2, bias=False)",
            shapes=((2, 4, 5, 6, 7),),
        ),
        Case(
            "nn.Conv3d(3, 4, 3, padding='same')", "ms_compat.Conv3d(3, 4, 3, padding='same')", shapes=((2, 3, 5, 6, 7),)
        ),
        Case(
            "nn.Conv3d(3, 4, 3, padding=1, padding_mode='replicate')",
            "ms_compat.Conv3d(3, 4, 3, padding=1, padding_mode='replicate')",
            shapes=((2, 3, 5, 6, 7),),
        ),
        Case(
            "nn.Conv3d(3, 4, 3, padding=1, padding_mode='reflect')",
            "ms_compat.Conv3d(3, 4, 3, padding=1, padding_mode='reflect')",
            shapes=((3, 5, 6, 7),),
        ),
    ],
)

for layer in ("Conv1d", "Conv2d", "Conv3d"):
    rule(
        f"torch.nn.{layer}._conv_forward",  # private, and the way of every class that changes the weight first
        to="compat.convolve_with",
        args="self input weight bias",
        cases=[
            Case(
                f"nn.{layer}._conv_forward(a, x, w, b)",
                "ms_compat.convolve_with(a, x, w, b)",
                runs=False,
                why="a layer of the project's own; tests/convert/test_layer_members.py runs them",
            )
        ],
    )
