"""In-place arithmetic, as the operator that an engineer would write: `x.add_(y, alpha=2)` is `x = x + 2 * y`."""

import ast

from ... import Case, rule
from ..._call import Call

ATOMS = (ast.Call, ast.Attribute, ast.Name, ast.Subscript, ast.Constant)


def operand(text: str) -> str:
    """In parentheses unless it binds tighter than any operator."""
    return (
        text
        if _is_expression(text, ATOMS) or (text.startswith("(") and _is_expression(text[1:-1], (ast.expr,)))
        else f"({text})"
    )


def _is_expression(text: str, kinds: tuple[type[ast.expr], ...]) -> bool:
    try:
        return isinstance(ast.parse(text, mode="eval").body, kinds)
    except SyntaxError:
        return False


def _scaled(call: Call, scale: str, other: str) -> str:
    """`other` times a factor that may be absent, or stand first as torch once had it."""
    if call.has(scale):
        return f"{operand(call.text(scale))} * {operand(call.text(other))}"
    return operand(call.text(other))


def _operator(name: str, symbol: str) -> None:
    @rule(
        f"torch.Tensor.{name}_",
        args="self other alpha",
        cases=[
            Case(f"x.clone().{name}_(y)", f"(ops.deepcopy(x) {symbol} y)", shapes=((2, 3), (2, 3))),
            Case(f"x.clone().{name}_(y + 1)", f"(ops.deepcopy(x) {symbol} (y + 1))", shapes=((2, 3), (3,))),
            *(
                [Case(f"x.clone().{name}_(y, alpha=2)", f"(ops.deepcopy(x) {symbol} 2 * y)", shapes=((2, 3), (2, 3)))]
                if symbol in "+-"
                else []
            ),
        ],
    )
    def operate(call: Call) -> None:
        if "rounding_mode" in call.given:
            call.replace(
                f"{call.name('mindspore.ops.div')}({call.text('self')}, {call.text('other')}, "
                f"rounding_mode={call.text('rounding_mode')})"
            )
            return
        is_old = not call.node.keywords and len(call.node.args) == 2  # add_(alpha, other)
        right = (
            f"{operand(call.text('other'))} * {operand(call.text('alpha'))}"
            if is_old
            else _scaled(call, "alpha", "other")
        )
        call.replace(f"{operand(call.text('self'))} {symbol} {right}")


for _name, _symbol in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")):
    _operator(_name, _symbol)
for _name, _symbol in (("subtract", "-"), ("multiply", "*"), ("divide", "/"), ("true_divide", "/")):
    _operator(_name, _symbol)


def _combined(name: str, symbol: str, inputs: tuple[tuple[int, ...], ...]) -> None:
    @rule(
        f"torch.Tensor.{name}_",
        args="self tensor1 tensor2 value",
        cases=[
            Case(f"x.clone().{name}_(y, z, value=0.5)", f"(ops.deepcopy(x) + 0.5 * y {symbol} z)", shapes=inputs),
            Case(f"x.clone().{name}_(y, z)", f"(ops.deepcopy(x) + y {symbol} z)", shapes=inputs),
        ],
    )
    def combine(call: Call) -> None:
        first, second, third = (call.text(each) for each in ("tensor1", "tensor2", "value"))
        if (
            len(call.node.args) == 3 and not call.node.keywords
        ):  # addcmul_(value, tensor1, tensor2), as torch once had it
            factor, left, right = first, second, third
        else:
            factor, left, right = third, first, second
        scale = f"{operand(factor)} * " if factor else ""
        call.replace(f"{operand(call.text('self'))} + {scale}{operand(left)} {symbol} {operand(right)}")


_combined("addcmul", "*", ((2, 3), (2, 3), (2, 3)))
_combined("addcdiv", "/", ((2, 3), (2, 3), (2, 3)))


@rule(
    "torch.Tensor.lerp_",
    args="self end weight",
    cases=[
        Case("x.clone().lerp_(y, 0.3)", "(ops.deepcopy(x) + 0.3 * (y - ops.deepcopy(x)))", shapes=((2, 3), (2, 3))),
    ],
)
def lerp(call: Call) -> None:
    x = operand(call.text("self"))
    call.replace(f"{x} + {operand(call.text('weight'))} * ({operand(call.text('end'))} - {x})")


@rule("torch.Tensor.neg_", cases=[Case("x.clone().neg_()", "(-ops.deepcopy(x))", shapes=((2, 3),))])
def neg(call: Call) -> None:
    call.replace(f"-{call.target}")


@rule(
    "torch.Tensor.pow_",
    args="self exponent",
    cases=[Case("x.clone().pow_(2)", "(ops.deepcopy(x) ** 2)", shapes=((2, 3),))],
)
def power(call: Call) -> None:
    call.replace(f"{operand(call.text('self'))} ** {operand(call.text('exponent'))}")


def _shift(name: str, symbol: str) -> None:
    """MindSpore's tensors have no << and >>: a shift is a product or a floor division by a power of two."""

    @rule(
        f"torch.{name}",
        args="input other",
        cases=[
            Case(f"torch.{name}(x, 2)", f"(x {symbol} 2 ** 2)", inputs=("int64[2,3](-50,50)",)),
            Case(f"x.{name}(y)", f"(x {symbol} 2 ** y)", inputs=("int64[2,3](-50,50)", "int64[3](0,4)")),
        ],
    )
    def shift(call: Call) -> None:
        call.replace(f"{operand(call.text('input'))} {symbol} 2 ** {operand(call.text('other'))}")


_shift("bitwise_left_shift", "*")
_shift("bitwise_right_shift", "//")
