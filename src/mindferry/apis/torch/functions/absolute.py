"""Absolute values: MindSpore's of a complex tensor is complex too."""

import ast

from ....read.infer import Reading
from ... import Case, rule
from ..._call import Call


def may_be_complex(call: Call) -> bool:
    """A file that names neither complex numbers nor Fourier transforms, and writes no `2j`, has real tensors only."""
    return call.reading.once(_has_complex_numbers)


def _has_complex_numbers(reading: Reading) -> bool:
    source = reading.source
    if source.mentions("complex") or source.mentions("fft") or "polar" in source.names:
        return True
    return any(isinstance(node.value, complex) for node in source.of(ast.Constant))


def _absolute(name: str) -> None:
    @rule(
        f"torch.{name}",
        to="mindspore.ops.abs",
        args="input",
        like="compat.absolute",
        differs="a complex tensor's is complex with no imaginary part;"
        " a file that mentions complex numbers or Fourier transforms gets a helper that returns real numbers",
        cases=[
            Case(f"torch.{name}(x)", "ops.abs(x)", shapes=((3, 4),)),
            Case(f"torch.fft.fft(x).{name}()", "ms_compat.absolute(ops.fft(x))", shapes=((3, 4),)),
            Case(
                f"torch.{name}(torch.complex(x, y)) * torch.{name}(x)",
                "ms_compat.absolute(ms_compat.complex_of(x, y)) * ms_compat.absolute(x)",
                shapes=((3, 4), (3, 4)),
            ),
        ],
    )
    def absolute(call: Call) -> None:
        if may_be_complex(call):
            call.use_like()


_absolute("abs")
_absolute("absolute")
