"""`load_torch_weights`: real torch modules into real MindSpore cells."""

from __future__ import annotations

import numpy as np
import pytest

from mindferry import load_torch_weights
from mindferry.errors import MindferryError
from mindferry.weights.outcome import WeightsMismatchError

torch = pytest.importorskip("torch")
ms = pytest.importorskip("mindspore")
from mindspore import nn as mnn  # noqa: E402
from torch import nn as tnn  # noqa: E402


def randomize(module, seed=0):
    """No parameter or statistic keeps a value that a fresh MindSpore layer would have by itself."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for value in [*module.parameters(), *module.buffers()]:
            if value.is_floating_point():
                value.copy_(torch.rand(value.shape, generator=generator) + 0.1)
    return module.eval()


PAIRS = {
    "Linear": (lambda: tnn.Linear(3, 4), lambda: mnn.Dense(3, 4), (2, 3)),
    "Conv1d": (lambda: tnn.Conv1d(3, 4, 3), lambda: mnn.Conv1d(3, 4, 3, pad_mode="valid", has_bias=True), (2, 3, 8)),
    "ConvTranspose1d": (
        lambda: tnn.ConvTranspose1d(3, 4, 3),
        lambda: mnn.Conv1dTranspose(3, 4, 3, pad_mode="valid", has_bias=True),
        (2, 3, 8),
    ),
    "Conv2d": (lambda: tnn.Conv2d(3, 4, 3), lambda: mnn.Conv2d(3, 4, 3, pad_mode="valid", has_bias=True), (2, 3, 8, 8)),
    "ConvTranspose2d": (
        lambda: tnn.ConvTranspose2d(3, 4, 3),
        lambda: mnn.Conv2dTranspose(3, 4, 3, pad_mode="valid", has_bias=True),
        (2, 3, 5, 5),
    ),
    "BatchNorm1d": (lambda: tnn.BatchNorm1d(4), lambda: mnn.BatchNorm1d(4), (5, 4)),
    "BatchNorm2d": (lambda: tnn.BatchNorm2d(4), lambda: mnn.BatchNorm2d(4), (2, 4, 3, 3)),
    "BatchNorm3d": (lambda: tnn.BatchNorm3d(4), lambda: mnn.BatchNorm3d(4), (2, 4, 3, 3, 3)),
    "BatchNorm2d without affine": (
        lambda: tnn.BatchNorm2d(4, affine=False),
        lambda: mnn.BatchNorm2d(4, affine=False),
        (2, 4, 3, 3),
    ),
    "LayerNorm": (lambda: tnn.LayerNorm(6), lambda: mnn.LayerNorm((6,), epsilon=1e-5), (2, 6)),
    "LayerNorm without bias": (lambda: tnn.LayerNorm(6, bias=False), lambda: mnn.LayerNorm((6,), epsilon=1e-5), (2, 6)),
    "GroupNorm": (lambda: tnn.GroupNorm(2, 4), lambda: mnn.GroupNorm(2, 4), (2, 4, 3, 3)),
    "PReLU": (lambda: tnn.PReLU(4), lambda: mnn.PReLU(4), (2, 4, 3, 3)),
    "LSTM": (
        lambda: tnn.LSTM(3, 4, 2, batch_first=True, bidirectional=True),
        lambda: mnn.LSTM(3, 4, 2, batch_first=True, bidirectional=True),
        (2, 5, 3),
    ),
    "GRU": (lambda: tnn.GRU(3, 4, 2, batch_first=True), lambda: mnn.GRU(3, 4, 2, batch_first=True), (2, 5, 3)),
    "RNN": (lambda: tnn.RNN(3, 4, batch_first=True), lambda: mnn.RNN(3, 4, batch_first=True), (2, 5, 3)),
    "LSTMCell": (lambda: tnn.LSTMCell(3, 4), lambda: mnn.LSTMCell(3, 4), (2, 3)),
    "GRUCell": (lambda: tnn.GRUCell(3, 4), lambda: mnn.GRUCell(3, 4), (2, 3)),
    "TransformerEncoderLayer": (
        lambda: tnn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
        lambda: mnn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
        (2, 5, 4),
    ),
    "weight norm": (
        lambda: tnn.utils.parametrizations.weight_norm(tnn.Linear(3, 4)),
        lambda: mnn.Dense(3, 4),
        (2, 3),
    ),
    "weight norm, older spelling": (
        lambda: tnn.utils.weight_norm(tnn.Conv1d(3, 4, 3)),
        lambda: mnn.Conv1d(3, 4, 3, pad_mode="valid", has_bias=True),
        (2, 3, 8),
    ),
    "weight norm over everything": (
        lambda: tnn.utils.parametrizations.weight_norm(tnn.Linear(3, 4), dim=None),
        lambda: mnn.Dense(3, 4),
        (2, 3),
    ),
    "spectral norm": (
        lambda: tnn.utils.parametrizations.spectral_norm(tnn.Linear(3, 4)),
        lambda: mnn.Dense(3, 4),
        (2, 3),
    ),
    "spectral norm, older spelling": (
        lambda: tnn.utils.spectral_norm(tnn.Conv2d(3, 4, 3)),
        lambda: mnn.Conv2d(3, 4, 3, pad_mode="valid", has_bias=True),
        (2, 3, 8, 8),
    ),
    "spectral norm, transposed": (
        lambda: tnn.utils.parametrizations.spectral_norm(tnn.ConvTranspose2d(3, 4, 3)),
        lambda: mnn.Conv2dTranspose(3, 4, 3, pad_mode="valid", has_bias=True),
        (2, 3, 5, 5),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_layer_computes_what_its_torch_twin_computes(name):
    reference, cell, shape = PAIRS[name][0](), PAIRS[name][1](), PAIRS[name][2]
    randomize(reference)
    report = load_torch_weights(cell, reference.state_dict())
    cell.set_train(False)
    x = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    zeros = ms.Tensor(np.zeros((2, 4), np.float32))
    state = {"LSTMCell": ((zeros, zeros),), "GRUCell": (zeros,)}.get(name, ())  # torch's default, not MindSpore's
    expected, got = reference(torch.from_numpy(x)), cell(ms.Tensor(x), *state)
    while isinstance(expected, tuple):
        expected, got = expected[0], got[0]
    assert expected.std() > 1e-3
    np.testing.assert_allclose(got.asnumpy(), expected.detach().numpy(), rtol=2e-4, atol=2e-5)
    assert report.complete and {entry.how for entry in report.entries} <= {"exact", "cell"}


def test_an_embedding_table_is_the_weight():
    reference, cell = tnn.Embedding(7, 3), mnn.Embedding(7, 3)
    report = load_torch_weights(cell, reference.state_dict())
    np.testing.assert_array_equal(cell.embedding_table.asnumpy(), reference.weight.detach().numpy())
    assert [entry.how for entry in report.entries] == ["cell"]


def test_a_helper_cell_that_keeps_torchs_names_is_matched_exactly():
    class HelperNorm(mnn.Cell):  # what convert emits where MindSpore's own layer differs
        def __init__(self):
            super().__init__()
            self.weight = ms.Parameter(ms.Tensor(np.zeros(4, np.float32)))
            self.bias = ms.Parameter(ms.Tensor(np.zeros(4, np.float32)))
            self.running_mean = ms.Parameter(ms.Tensor(np.zeros(4, np.float32)), requires_grad=False)
            self.running_var = ms.Parameter(ms.Tensor(np.zeros(4, np.float32)), requires_grad=False)

    reference, cell = randomize(tnn.BatchNorm2d(4)), HelperNorm()
    report = load_torch_weights(cell, reference.state_dict())
    assert {entry.how for entry in report.entries} == {"exact"}
    assert report.dropped == ("num_batches_tracked",)
    np.testing.assert_array_equal(cell.running_var.asnumpy(), reference.running_var.numpy())


def test_a_subclass_of_a_layer_is_known_by_its_base():
    class SamePadded(mnn.Conv1d):
        pass

    class Net(mnn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = SamePadded(3, 4, 3)

    weight = torch.rand(4, 3, 3)
    cell = Net()
    load_torch_weights(cell, {"conv.weight": weight})
    np.testing.assert_array_equal(cell.conv.weight.asnumpy()[:, :, 0], weight.numpy())


class Tied(mnn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = mnn.Embedding(5, 3)
        self.head = mnn.Dense(3, 5, has_bias=False)
        self.head.weight = self.embed.embedding_table
        self.register_buffer("scale", ms.Tensor(np.zeros(2, np.float32)))


def test_tied_weights_and_buffers_arrive():
    table = torch.rand(5, 3)
    cell = Tied()
    report = load_torch_weights(cell, {"embed.weight": table, "head.weight": table, "scale": torch.tensor([3.0, 4.0])})
    assert report.complete and cell.head.weight is cell.embed.embedding_table
    np.testing.assert_array_equal(cell.head.weight.asnumpy(), table.numpy())
    np.testing.assert_array_equal(cell.scale.asnumpy(), [3, 4])


def test_a_buffer_that_was_not_yet_initialized_keeps_the_loaded_values():
    from mindspore.common.initializer import Zero

    class Net(mnn.Cell):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", ms.Tensor(shape=(2,), dtype=ms.float32, init=Zero()))

    cell = Net()
    load_torch_weights(cell, {"scale": torch.tensor([3.0, 4.0])})
    np.testing.assert_array_equal(cell.scale.asnumpy(), [3, 4])


def test_tied_weights_may_be_stored_once():
    table = torch.rand(5, 3)
    assert load_torch_weights(Tied(), {"head.weight": table, "scale": torch.zeros(2)}).complete


def test_a_tie_that_the_file_does_not_keep_is_refused():
    with pytest.raises(WeightsMismatchError, match="tied"):
        load_torch_weights(
            Tied(), {"embed.weight": torch.rand(5, 3), "head.weight": torch.rand(5, 3), "scale": torch.zeros(2)}
        )


def test_an_optimizer_keeps_its_parameters():
    cell = mnn.Dense(3, 4)
    optimizer = mnn.SGD(cell.trainable_params(), 0.1)
    load_torch_weights(cell, tnn.Linear(3, 4).state_dict())
    assert optimizer.parameters[0] is cell.weight


def test_missing_unexpected_and_misshapen_are_all_named_and_nothing_is_set():
    cell = mnn.SequentialCell(mnn.Dense(3, 4), mnn.Dense(4, 2))
    before = cell[0].weight.asnumpy().copy()
    state = {"0.weight": torch.rand(4, 3), "0.bias": torch.rand(5), "1.weight": torch.rand(2, 4), "odd": torch.rand(1)}
    with pytest.raises(WeightsMismatchError) as caught:
        load_torch_weights(cell, state)
    report = caught.value.report
    assert (report.missing, report.unexpected) == (("1.bias",), ("odd",))
    assert report.mismatched == ("0.bias (4,) in the model, 0.bias (5,) in the file",)
    np.testing.assert_array_equal(cell[0].weight.asnumpy(), before)
    assert isinstance(caught.value, MindferryError) and "\n" not in str(caught.value)


def test_without_strict_what_fits_is_loaded_and_the_rest_listed():
    cell = mnn.SequentialCell(mnn.Dense(3, 4))
    weight = torch.rand(4, 3)
    report = load_torch_weights(cell, {"0.weight": weight, "odd": torch.rand(1)}, strict=False)
    np.testing.assert_array_equal(cell[0].weight.asnumpy(), weight.numpy())
    assert not report.complete and report.missing == ("0.bias",) and report.unexpected == ("odd",)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_a_value_takes_the_parameters_dtype_as_in_torch(dtype):
    reference = tnn.Linear(3, 4).to(getattr(torch, dtype))
    cell = mnn.Dense(3, 4)
    load_torch_weights(cell, reference.state_dict())
    np.testing.assert_array_equal(cell.weight.asnumpy(), reference.weight.detach().float().numpy())
    half = mnn.Dense(3, 4, dtype=ms.bfloat16)
    load_torch_weights(half, reference.state_dict())
    expected = reference.weight.detach().bfloat16().float().numpy()
    np.testing.assert_array_equal(half.weight.astype(ms.float32).asnumpy(), expected)


def test_integers_do_not_become_floats():
    with pytest.raises(WeightsMismatchError, match="float32 in the model, int64 in the file"):
        load_torch_weights(mnn.Dense(3, 4, has_bias=False), {"weight": torch.ones(4, 3, dtype=torch.int64)})


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod.", "model."])
def test_wrapper_prefixes_are_taken_off(prefix):
    state = {f"{prefix}0.{name}": value for name, value in tnn.Linear(3, 4).state_dict().items()}
    assert load_torch_weights(mnn.SequentialCell(mnn.Dense(3, 4)), state).complete


def test_numpy_arrays_are_as_good_as_tensors():
    weight = np.random.default_rng(0).random((4, 3), np.float32)
    cell = mnn.Dense(3, 4, has_bias=False)
    load_torch_weights(cell, {"weight": weight})
    np.testing.assert_array_equal(cell.weight.asnumpy(), weight)


def test_a_lone_batch_norm_whose_parameters_are_called_mean_and_variance_is_loaded():
    reference, cell = randomize(tnn.BatchNorm1d(4)), mnn.BatchNorm1d(4)
    targets = {entry.target for entry in load_torch_weights(cell, reference.state_dict()).entries}
    assert targets == {param.name for param in cell.get_parameters()} == {"gamma", "beta", "mean", "variance"}


def test_a_parameter_does_not_share_its_memory_with_the_array_that_it_was_loaded_from() -> None:
    cell, values = mnn.Dense(3, 2, has_bias=False), np.ones((2, 3), np.float32)
    load_torch_weights(cell, {"weight": values})
    values[:] = 5
    assert cell.weight.asnumpy().max() == 1
