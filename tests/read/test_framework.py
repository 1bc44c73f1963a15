"""What is known of torch stands in its table: types, roles, names."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from mindferry.apis import framework
from mindferry.read.framework import Role
from mindferry.read.types import FLOAT, INT, SIZE, STR, TENSOR, UNKNOWN, instance, list_of, tuple_of

SOURCE = Path(__file__).parents[2] / "src/mindferry"
TORCH = framework("torch")
PAIR = tuple_of(TENSOR, TENSOR)


@pytest.mark.parametrize(
    ("method", "arguments", "result"),
    [
        ("size", 0, SIZE),
        ("size", 1, INT),
        ("max", 0, TENSOR),
        ("max", 1, PAIR),
        ("type", 0, STR),
        ("type", 1, TENSOR),
        ("item", 0, FLOAT),
        ("relu", 0, TENSOR),
        ("chunk", 2, list_of(TENSOR)),
        ("register_hook", 1, UNKNOWN),
    ],
)
def test_methods_of_tensors_return_what_the_table_says(method: str, arguments: int, result: object) -> None:
    assert TORCH.method_result(method, arguments) == result


@pytest.mark.parametrize(
    ("api", "result"),
    [
        ("torch.zeros", TENSOR),
        ("torch.Tensor", TENSOR),
        ("torch.nn.Linear", instance("torch.nn.Linear")),
        ("torch.device", instance("torch.device")),
        ("torch.sort", PAIR),
        ("torch.linalg.qr", PAIR),
        ("torch.save", UNKNOWN),
        ("torch.nn.functional.max_pool2d_with_indices", PAIR),
        ("torch.FloatTensor", TENSOR),
        ("einops.rearrange", TENSOR),
        ("torch.cuda.is_available", UNKNOWN),
    ],
)
def test_calls_return_what_the_table_says(api: str, result: object) -> None:
    assert TORCH.call_result(api, 1) == result


@pytest.mark.parametrize(
    ("qual", "role"),
    [
        ("torch.nn.Linear", Role.NETWORK),
        ("torch.nn.CrossEntropyLoss", Role.LOSS),
        ("torch.nn.Parameter", Role.NONE),
        ("torch.nn.ParameterList", Role.NETWORK),
        ("torch.nn.utils.rnn.PackedSequence", Role.NONE),
        ("torch.optim.SGD", Role.OPTIMIZER),
        ("torch.optim.lr_scheduler.StepLR", Role.SCHEDULER),
        ("torch.utils.data.TensorDataset", Role.DATA),
        ("torch.utils.data.Dataset", Role.DATASET),
        ("torchvision.datasets.MNIST", Role.DATASET),
        ("torch.autograd.Function", Role.GRADIENT),
        ("mine.Linear", Role.NONE),
    ],
)
def test_classes_have_roles(qual: str, role: Role) -> None:
    assert TORCH.role(qual) is role


def test_it_goes_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(TORCH)).role("torch.nn.Linear") is Role.NETWORK


def test_a_table_is_the_source_frameworks() -> None:
    assert framework("tensorflow").name == "tensorflow"
    with pytest.raises(ModuleNotFoundError, match="paddle"):
        framework("paddle")


def test_reading_code_knows_no_name_of_torch() -> None:
    """All but `types.py`, whose MODULE and `join` all code shares, and `observed.py`, which reads what a run of torch's recorded."""
    for path in (SOURCE / "read").glob("*.py"):
        if path.name not in ("types.py", "observed.py"):
            code = re.sub(r'""".*?"""|#[^\n]*', "", path.read_text(), flags=re.DOTALL)
            assert not re.findall(r'"(?:torch|torchvision|einops)\.[^"]*"', code), path
