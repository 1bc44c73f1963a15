"""Names of older versions of torch that repositories still use: torch._six, which knew Python 2 and 3, and storages of bytes."""

from ... import Case, rule
from ..._call import Call

WHY = "torch 2 has it no more"
HOME = "torch._six"

for _name, _to in (
    ("inf", "math.inf"),
    ("nan", "math.nan"),
    ("string_classes", "(str, bytes)"),
    ("int_classes", "int"),
    ("PY2", "False"),
    ("PY3", "True"),
    ("PY37", "True"),
):
    rule(
        f"{HOME}.{_name}",
        to=_to,
        like=_to,
        cases=[Case(f"[torch._six.{_name}]", f"[{_to}]", runs=False, why=WHY)],
    )

for _name in (
    "Callable Collection Container Hashable Iterable Iterator Mapping MutableMapping MutableSequence MutableSet Sequence Set Sized"
).split():
    rule(
        f"{HOME}.container_abcs.{_name}",
        to=f"collections.abc.{_name}",
        like=f"collections.abc.{_name}",
        cases=[Case(f"[torch._six.container_abcs.{_name}]", f"[abc.{_name}]", runs=False, why=WHY)],
    )

rule(
    "torchvision.__version__",
    to="mindspore.__version__",
    like="mindspore.__version__",
    cases=[Case("torchvision.__version__", "ms.__version__", runs=False, why="versions differ")],
)


@rule(
    "torch.ByteStorage.from_buffer",
    args="buffer byte_order",
    drop="byte_order",
    cases=[
        Case(
            "torch.ByteTensor(torch.ByteStorage.from_buffer(bytes([3, 1])))",
            "ms_compat.ByteTensor(np.frombuffer(bytes([3, 1]), np.uint8))",
            gradient=False,
        )
    ],
)
def byte_storage(call: Call) -> None:
    """What all_gather functions of many repositories do with pickled objects."""
    numpy = call.name("numpy")
    call.replace(f"{numpy}.frombuffer({call.text('buffer')}, {numpy}.uint8)")
