"""safetensors.torch and safe_open in a project: the files are torch's own, read and written without torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from mindferry import convert_source

SOURCE = """import torch
import safetensors.torch as st
from safetensors import safe_open
from safetensors.torch import load_file, load, save, save_file
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 2)
        self.tied = nn.Linear(4, 2, bias=False)
        self.tied.weight = self.head.weight

    def forward(self, x):
        return self.head(self.norm(x)) + self.tied(x)


def read(path):
    model = Net()
    model.load_state_dict(load_file(path, device="cpu"))
    return model.eval()


def write(model: Net, path):
    save_file({name: value for name, value in model.state_dict().items() if name != "tied.weight"}, path, metadata={"format": "pt"})


def write_model(model: Net, path):
    st.save_model(model, path)


def read_model(model: Net, path):
    return st.load_model(model, path, strict=False)


def copied(values):
    return load(save(values))


def parts(path):
    with safe_open(path, framework="pt", device="cpu") as file:
        return {name: (file.get_tensor(name), file.get_slice(name)[:1], file.get_slice(name).get_shape()) for name in file.keys()}
"""


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("safetensors") / "safetensors_converted.py"
    conversion = convert_source(SOURCE)
    assert not [finding for finding in conversion.findings if finding.severity == "error"]
    assert "safetensors." not in conversion.main
    path.write_text(conversion.code, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def original() -> Any:
    space: dict[str, Any] = {}
    exec(compile(SOURCE, "original", "exec"), space)
    torch.manual_seed(4)
    model = space["Net"]()
    for value in model.state_dict().values():
        if value.is_floating_point():
            value.copy_(torch.rand_like(value) + 0.2)
    return model.eval()


def test_a_file_of_torchs_is_read_into_the_network(converted: Any, tmp_path: Path) -> None:
    import mindspore as ms

    model, path = original(), str(tmp_path / "net.safetensors")
    save_file({name: value.clone() for name, value in model.state_dict().items()}, path)
    x = torch.randn(3, 4)
    found = converted.read(path)(ms.Tensor(x.numpy())).asnumpy()
    np.testing.assert_allclose(found, model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_torch_reads_what_was_written(converted: Any, tmp_path: Path) -> None:
    model, path = converted.Net(), str(tmp_path / "net.safetensors")
    converted.write(model, path)
    found = load_file(path)
    assert set(found) - {"norm.num_batches_tracked"} == {
        "norm.weight",
        "norm.bias",
        "norm.running_mean",
        "norm.running_var",
        "head.weight",
        "head.bias",
    }
    np.testing.assert_array_equal(found["head.weight"].numpy(), model.head.weight.asnumpy())
    with safe_open(path, framework="pt") as file:
        assert file.metadata() == {"format": "pt"}


def test_a_tied_weight_is_written_once_and_found_missing(converted: Any, tmp_path: Path) -> None:
    model, path = converted.Net(), str(tmp_path / "net.safetensors")
    converted.write_model(model, path)
    assert len({"head.weight", "tied.weight"} & set(load_file(path))) == 1
    other = converted.Net()
    missing, unexpected = converted.read_model(other, path)
    assert set(missing) <= {"head.weight", "tied.weight", "norm.num_batches_tracked"} and not unexpected
    np.testing.assert_array_equal(other.head.weight.asnumpy(), model.head.weight.asnumpy())


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool"])
def test_every_type_of_tensor_comes_through(converted: Any, tmp_path: Path, kind: str) -> None:
    value = (torch.randn(3, 2) * 9).to(getattr(torch, kind))
    path = str(tmp_path / "values.safetensors")
    save_file({"a": value, "none": value[:0].contiguous()}, path)
    whole, part, shape = converted.parts(path)["a"]
    again = converted.copied({"a": whole})["a"]
    assert shape == [3, 2] and str(whole.dtype).lower() == kind
    for found, wanted in ((whole, value), (part, value[:1]), (again, value)):
        np.testing.assert_array_equal(found.float().asnumpy(), wanted.float().numpy())
