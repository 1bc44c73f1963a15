"""Names from the model, from the conversion record, from the file's structure, by pattern, and from a user's map."""

from __future__ import annotations

import json

import pytest

from mindferry.errors import MindferryError
from mindferry.weights import convert_weights
from mindferry.weights.formats.entry import Entry
from mindferry.weights.formats.files import open_checkpoint, write_checkpoint
from mindferry.weights.outcome import WeightsMismatchError
from mindferry.weights.sources import read_sources
from mindferry.weights.structure import infer
from mindferry.weights.usermap import UserMap, read_user_map

np = pytest.importorskip("numpy")

NET = """
import mindspore as ms
from mindspore import nn

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.conv = nn.Conv1d(4, 6, 3, has_bias=True)
        self.bn = nn.BatchNorm1d(6)
        self.layer = nn.TransformerEncoderLayer(4, 2, 8)
        self.head = nn.Dense(4, 7, has_bias=False)
        self.head.weight = self.embed.embedding_table
        print("a factory may print")

def broken():
    raise RuntimeError("no such backbone")
"""


def file_of(path, shapes, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    arrays = {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()}
    entries = [Entry(name, dtype, array.shape, compute=lambda a=array: a) for name, array in arrays.items()]
    write_checkpoint(path, entries, "pt")
    return arrays


def values(path):
    with open_checkpoint(path) as checkpoint:
        return {entry.name: entry.array() for entry in checkpoint.entries}


def torch_shapes():
    attention = {"in_proj_weight": (12, 4), "in_proj_bias": (12,), "out_proj.weight": (4, 4), "out_proj.bias": (4,)}
    shapes = {"embed.weight": (7, 4), "conv.weight": (6, 4, 3), "conv.bias": (6,)}
    shapes |= {f"bn.{name}": (6,) for name in ("weight", "bias", "running_mean", "running_var")}
    shapes |= {f"layer.self_attn.{name}": shape for name, shape in attention.items()}
    shapes |= {"layer.linear1.weight": (8, 4), "layer.linear1.bias": (8,)}
    shapes |= {"layer.linear2.weight": (4, 8), "layer.linear2.bias": (4,)}
    return shapes | {f"layer.norm{n}.{name}": (4,) for n in (1, 2) for name in ("weight", "bias")}


@pytest.fixture
def project(tmp_path):
    pytest.importorskip("mindspore")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "nets.py").write_text(NET)
    return tmp_path / "project"


def test_with_the_model_every_name_comes_from_its_cells_and_comes_back(project, tmp_path):
    import mindspore as ms

    arrays = file_of(tmp_path / "a.safetensors", torch_shapes())
    report = convert_weights(tmp_path / "a.safetensors", tmp_path / "a.ckpt", model="nets:Net", project=project)
    assert report.complete and {entry.how for entry in report.entries} == {"exact", "cell"}
    scope: dict = {}
    exec(NET, scope)
    net = scope["Net"]()
    missing, unexpected = ms.load_param_into_net(net, ms.load_checkpoint(str(tmp_path / "a.ckpt")), strict_load=True)
    assert (missing, unexpected) == ([], [])
    np.testing.assert_array_equal(net.conv.weight.asnumpy()[:, :, 0], arrays["conv.weight"])
    np.testing.assert_array_equal(net.layer.dense1.bias.asnumpy(), arrays["layer.linear1.bias"])
    convert_weights(tmp_path / "a.ckpt", tmp_path / "b.pth", model="nets:Net", project=project, reverse=True)
    back = values(tmp_path / "b.pth")
    assert {name: array.tobytes() for name, array in back.items()} == {
        name: array.tobytes() for name, array in (arrays | {"head.weight": arrays["embed.weight"]}).items()
    }
    assert back["conv.weight"].shape == (6, 4, 3)


def test_tied_parameters_that_differ_in_the_file_stop_the_conversion(project, tmp_path):
    file_of(tmp_path / "a.safetensors", torch_shapes() | {"head.weight": (7, 4)})
    with pytest.raises(WeightsMismatchError, match="tied"):
        convert_weights(tmp_path / "a.safetensors", tmp_path / "a.ckpt", model="nets:Net", project=project)
    assert not (tmp_path / "a.ckpt").exists()


def test_what_is_missing_or_left_over_stops_a_strict_conversion_and_is_listed_by_a_lenient_one(project, tmp_path):
    shapes = torch_shapes() | {"extra.weight": (2, 2)}
    del shapes["bn.running_var"]
    file_of(tmp_path / "a.pth", shapes)
    with pytest.raises(WeightsMismatchError) as caught:
        convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt", model="nets:Net", project=project)
    assert caught.value.report.missing == ("bn.moving_variance",)
    assert caught.value.report.unexpected == ("extra.weight",)
    assert not (tmp_path / "a.ckpt").exists()
    convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt", model="nets:Net", project=project, strict=False)
    assert len(values(tmp_path / "a.ckpt")) == len(shapes) - 1


@pytest.mark.parametrize(
    ("model", "reason"),
    [("nets", "names no factory"), ("nets:Gone", "Gone"), ("gone:Net", "gone"), ("nets:broken", "no such backbone")],
)
def test_a_model_that_cannot_be_built_is_told_in_one_line(model, reason, project, tmp_path):
    file_of(tmp_path / "a.pth", {"x": (2,)})
    with pytest.raises(MindferryError, match=reason) as caught:
        convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt", model=model, project=project)
    assert "\n" not in str(caught.value)


def plan(shapes, sources=None, reverse=False):
    moves = infer(shapes, UserMap(), sources, reverse).moves
    return {move.sources[0]: (move.target, move.shape, move.how) for move in moves}


PROJECT = """
import mindspore as ms
import ms_compat
from mindspore import nn
from mindspore.nn import Dense as Linear

class OwnNorm(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.weight = ms.Parameter(ms.ops.ones((d,)))

class Wide(nn.Conv1d):
    pass

class Net(nn.Cell):
    def __init__(self, norm=nn.LayerNorm):
        super().__init__()
        self.conv = Wide(3, 4, 3)
        self.up = ms_compat.ConvTranspose1d(4, 4, 3)
        self.norm = nn.LayerNorm((4,))
        self.given = norm(4)
        self.own = OwnNorm(4)
        self.table = nn.Embedding(4, 4)
        self.q_emb = Linear(4, 4, has_bias=False)
        self.act = ms_compat.PReLU()
        self.bn = nn.BatchNorm3d(4)
        self.stem = nn.SequentialCell(nn.Dense(4, 4), nn.LayerNorm((4,)))
        self.blocks = nn.CellList([OwnNorm(4) for _ in range(2)])
        self.enc = nn.TransformerEncoderLayer(4, 2, 8)
        self.scale = ms.Parameter(ms.ops.ones((3,))) if norm else None
"""
HELPERS = """
from mindspore import nn

class ConvTranspose1d(nn.Conv1dTranspose):
    pass

class PReLU(nn.Cell):
    pass
"""


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "net.py").write_text(PROJECT)
    (tmp_path / "ms_compat.py").write_text(HELPERS)
    return read_sources([tmp_path / "net.py", tmp_path / "ms_compat.py"])


CERTAIN = {
    "a.conv.weight": ((4, 3, 3), "a.conv.weight", (4, 3, 1, 3)),
    "up.weight": ((4, 4, 3), "up.weight", (4, 4, 1, 3)),
    "b.0.norm.weight": ((4,), "b.0.norm.gamma", (4,)),
    "b.0.norm.bias": ((4,), "b.0.norm.beta", (4,)),
    "table.weight": ((4, 4), "table.embedding_table", (4, 4)),
    "bn.weight": ((4,), "bn.bn2d.gamma", (4,)),
    "bn.running_var": ((4,), "bn.bn2d.moving_variance", (4,)),
    "stem.1.weight": ((4,), "stem.1.gamma", (4,)),
    "stem.1.bias": ((4,), "stem.1.beta", (4,)),
    "enc.self_attn.in_proj_weight": ((12, 4), "enc.self_attn.in_proj_weight", (12, 4)),
    "enc.linear1.weight": ((8, 4), "enc.dense1.weight", (8, 4)),
    "enc.norm1.weight": ((4,), "enc.norm1.gamma", (4,)),
    "own.weight": ((4,), "own.weight", (4,)),
    "q_emb.weight": ((4, 4), "q_emb.weight", (4, 4)),
    "act.weight": ((1,), "act.weight", (1,)),
    "blocks.1.weight": ((4,), "blocks.1.weight", (4,)),
}


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "back"])
def test_the_source_of_a_converted_project_tells_its_layers(sources, reverse):
    if reverse:
        found = plan({target: shape for _, target, shape in CERTAIN.values()}, sources, reverse=True)
        assert {target: (name, shape) for target, (name, shape, _) in found.items()} == {
            target: (name, shape) for name, (shape, target, _) in CERTAIN.items()
        }
    else:
        found = plan({name: shape for name, (shape, _, _) in CERTAIN.items()}, sources)
        assert {name: (target, shape) for name, (target, shape, _) in found.items()} == {
            name: (target, shape) for name, (_, target, shape) in CERTAIN.items()
        }
    assert "pattern" not in {how for _, _, how in found.values()}


def test_what_the_source_leaves_open_stays_a_guess(sources):
    shapes = {"given.weight": (4,), "given.bias": (4,), "elsewhere.weight": (4, 4)}
    assert {how for _, _, how in plan(shapes, sources).values()} == {"pattern"}


def test_two_classes_of_one_name_tell_nothing(tmp_path):
    for name, base in (("a", "nn.LayerNorm"), ("b", "nn.Cell")):
        text = f"from mindspore import nn\nclass Norm({base}):\n  def f(self):\n    self.n = Norm(4)\n"
        (tmp_path / f"{name}.py").write_text(text)
    sources = read_sources([tmp_path / "a.py", tmp_path / "b.py"])
    assert plan({"n.weight": (4,), "n.bias": (4,)}, sources)["n.weight"][2] == "pattern"


def test_a_source_that_cannot_be_read_tells_nothing(tmp_path):
    (tmp_path / "broken.py").write_text("class Net(:")
    assert read_sources([tmp_path / "broken.py"]) is None


NORM = {f"bn.{name}": (4,) for name in ("weight", "bias", "running_mean", "running_var")}


def test_a_batch_norm_is_known_by_its_statistics_and_its_counter_dropped():
    shapes = NORM | {"bn.num_batches_tracked": ()}
    found = infer(shapes, UserMap(), None, False)
    assert {move.target: move.how for move in found.moves} == {
        "bn.gamma": "structure",
        "bn.beta": "structure",
        "bn.moving_mean": "structure",
        "bn.moving_variance": "structure",
    }
    assert found.dropped == ("bn.num_batches_tracked",)


def test_a_batch_norm_among_3d_convolutions_is_one_of_those_which_mindspore_nests_and_that_is_said():
    shapes = NORM | {"bn.num_batches_tracked": (), "conv.weight": (4, 3, 3, 3, 3)}
    assert plan(shapes)["bn.weight"] == ("bn.bn2d.gamma", (4,), "pattern")
    back = {"bn.bn2d.gamma": (4,), "bn.bn2d.beta": (4,), "bn.bn2d.moving_mean": (4,), "bn.bn2d.moving_variance": (4,)}
    assert {target for target, _, _ in plan(back, reverse=True).values()} == set(NORM)


def test_without_its_counter_it_could_be_a_frozen_one_and_that_is_said():
    assert {how for _, _, how in plan(NORM).values()} == {"pattern"}


def test_what_only_a_layers_kind_can_tell_is_by_pattern():
    shapes = {"n.weight": (4,), "n.bias": (4,), "c.weight": (6, 4, 3), "c.bias": (6,)}
    assert plan(shapes)["n.weight"] == ("n.gamma", (4,), "pattern")
    assert plan(shapes)["c.weight"] == ("c.weight", (6, 4, 1, 3), "pattern")


def test_names_that_no_layer_changes_are_exact():
    shapes = {
        "fc.weight": (3, 2),
        "fc.bias": (3,),
        "conv.weight": (8, 3, 3, 3),
        "cls_token": (1, 1, 4),
        "rnn.weight_ih_l0": (8, 3),
    }
    assert plan(shapes) == {name: (name, shape, "exact") for name, shape in shapes.items()}


def test_a_linear_without_bias_and_an_embedding_look_alike_and_that_is_said():
    found = plan({"embed_tokens.weight": (9, 4), "q_proj.weight": (4, 4)})
    assert found["embed_tokens.weight"] == ("embed_tokens.embedding_table", (9, 4), "pattern")
    assert found["q_proj.weight"] == ("q_proj.weight", (4, 4), "pattern")


def test_a_transformer_layer_that_somebody_wrote_keeps_linear1_if_the_source_says_so(tmp_path):
    shapes = {"l.self_attn.in_proj_weight": (12, 4), "l.linear1.weight": (8, 4), "l.linear1.bias": (8,)}
    assert plan(shapes)["l.linear1.weight"] == ("l.linear1.weight", (8, 4), "pattern")
    (tmp_path / "a.py").write_text(
        "from mindspore import nn\nclass L(nn.Cell):\n  def f(self):\n    self.linear1, self.b = nn.Dense(4, 8), 3\n"
    )
    assert plan(shapes, read_sources([tmp_path / "a.py"]))["l.linear1.weight"] == ("l.linear1.weight", (8, 4), "exact")


def test_mindspores_names_tell_their_layers():
    shapes = {
        "bn.gamma": (4,),
        "bn.beta": (4,),
        "bn.moving_mean": (4,),
        "bn.moving_variance": (4,),
        "e.embedding_table": (5, 4),
    }
    found = plan(shapes, reverse=True)
    assert [target for target, _, _ in found.values()] == [*NORM, "e.weight"]
    assert {how for _, _, how in found.values()} == {"structure"}
    assert plan({"block.gamma": (4,)}, reverse=True) == {"block.gamma": ("block.gamma", (4,), "exact")}


def test_optimizer_state_in_a_mindspore_checkpoint_is_left_out_and_listed():
    shapes = {"fc.weight": (2, 2), "moments.fc.weight": (2, 2), "learning_rate": (), "global_step": (1,)}
    assert infer(shapes, UserMap(), None, True).dropped == ("moments.fc.weight", "learning_rate", "global_step")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_weight_norm_is_folded_without_a_model_and_that_is_said(dtype, tmp_path):
    arrays = file_of(
        tmp_path / "a.pth", {"c.weight_g": (6, 1, 1, 1), "c.weight_v": (6, 4, 3, 3), "c.bias": (6,)}, dtype
    )
    report = convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt")
    assert [entry.how for entry in report.entries if entry.target == "c.weight"] == ["pattern", "pattern"]
    g, v = arrays["c.weight_g"].astype(np.float64), arrays["c.weight_v"].astype(np.float64)
    expected = g * v / np.sqrt((v**2).sum(axis=(1, 2, 3), keepdims=True))
    found = values(tmp_path / "a.ckpt")["c.weight"]
    assert found.dtype == dtype
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=2e-3 if dtype == "float16" else 1e-6)


def test_bfloat16_is_rounded_to_the_nearest_when_it_has_to_be_computed_with():
    torch = pytest.importorskip("torch")
    from mindferry.weights.convert import narrow

    x = np.random.default_rng(0).standard_normal(100_000).astype(np.float32)
    x[:3] = [np.inf, -np.inf, 0.0]
    expected = torch.from_numpy(x).bfloat16().view(torch.int16).numpy().view(np.uint16)
    np.testing.assert_array_equal(narrow(x, "bfloat16"), expected)
    assert np.isnan(
        torch.from_numpy(narrow(np.array([np.nan], np.float32), "bfloat16").view(np.int16)).view(torch.bfloat16).float()
    )


def test_the_conversion_record_of_a_project_is_found(tmp_path):
    from mindferry.artifacts import ProjectConversion, save

    save(ProjectConversion("in", "out", ()), tmp_path / "ms", "convert")
    (tmp_path / "ms" / "net.py").write_text(PROJECT)
    file_of(tmp_path / "a.pth", {"norm.weight": (4,), "norm.bias": (4,)})
    report = convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt", project=tmp_path / "ms")
    assert {(entry.target, entry.how) for entry in report.entries} == {
        ("norm.gamma", "record"),
        ("norm.beta", "record"),
    }
    report = convert_weights(tmp_path / "a.pth", tmp_path / "b.ckpt", project=tmp_path)
    assert {entry.how for entry in report.entries} == {"pattern"}


def test_the_record_names_the_parameters_of_a_class_that_the_table_does_not_know():
    from mindferry.weights.match import match
    from mindferry.weights.tree import Slot, Tree

    tree = Tree((Slot("n.scale", "n.scale", (4,), "float32", 0),), {"": (), "n": ("pkg.ms_compat.RMSNorm",)})
    found = match(tree, {"n.weight": (4,)}, record={"ms_compat.RMSNorm": {"weight": "scale"}})
    assert [(move.sources, move.target, move.how) for move in found.moves] == [(("n.weight",), "n.scale", "record")]


MAP = r"""
drop = ["ema\\..*"]
[names]
"head.w" = "classifier.weight"
[patterns]
'blocks\.(\d+)\.q' = 'layers.\1.query'
[transforms]
"head.w" = "transpose"
'blocks\.\d+\.q' = "rows:0:2"
"odd" = "reshape:3,2"
"""


def test_a_users_map_renames_transforms_and_drops(tmp_path):
    (tmp_path / "map.toml").write_text(MAP)
    shapes = {"head.w": (3, 2), "blocks.11.q": (6, 2), "odd": (2, 3), "ema.head": (3, 2)}
    arrays = file_of(tmp_path / "a.pth", shapes)
    report = convert_weights(tmp_path / "a.pth", tmp_path / "a.safetensors", names=tmp_path / "map.toml")
    assert {entry.how for entry in report.entries} == {"map"} and report.dropped == ("ema.head",)
    found = values(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(found["classifier.weight"], arrays["head.w"].T)
    np.testing.assert_array_equal(found["layers.11.query"], arrays["blocks.11.q"][:2])
    np.testing.assert_array_equal(found["odd"], arrays["odd"].reshape(3, 2))


def test_a_users_map_wins_over_the_model_and_its_shapes_are_checked(project, tmp_path):
    (tmp_path / "map.toml").write_text(
        '[names]\n"table" = "embed.embedding_table"\n[transforms]\n"table" = "transpose"\n'
    )
    shapes = {k: v for k, v in torch_shapes().items() if k != "embed.weight"} | {"table": (4, 7)}
    arrays = file_of(tmp_path / "a.pth", shapes)
    options = {"model": "nets:Net", "project": project, "names": tmp_path / "map.toml"}
    report = convert_weights(tmp_path / "a.pth", tmp_path / "a.safetensors", **options)
    assert [entry.how for entry in report.entries if entry.source == "table"] == ["map"]
    assert any(array.tobytes() == arrays["table"].T.tobytes() for array in values(tmp_path / "a.safetensors").values())
    file_of(tmp_path / "b.pth", shapes | {"table": (5, 7)})
    with pytest.raises(WeightsMismatchError, match="by the map"):
        convert_weights(tmp_path / "b.pth", tmp_path / "b.safetensors", **options)


def test_a_source_that_the_map_sends_elsewhere_is_not_also_taken_by_its_own_name():
    from mindferry.weights.match import match
    from mindferry.weights.tree import Slot, Tree

    tree = Tree((Slot("a", "a", (2,), "float32", 0), Slot("b", "b", (2,), "float32", 1)), {"": ()})
    found = match(tree, {"a": (2,)}, UserMap({"a": "b"}))
    assert [(move.sources, move.target) for move in found.moves] == [(("a",), "b")] and found.missing == ("a",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[names", "cannot read"),
        ("[renames]\n", "unknown key 'renames'"),
        ('[names]\n"a" = 3\n', "map strings to strings"),
        ('[patterns]\n"(" = "x"\n', "no regular expression"),
        ("[patterns]\n'a' = '\\1'\n", "a group that 'a' doesn't have"),
        ('[transforms]\n"a" = "invert"\n', "unknown transform 'invert'"),
        ('[transforms]\n"a" = "permute:x"\n', "unknown transform"),
    ],
)
def test_a_map_that_is_wrong_is_told_in_one_line(text, reason, tmp_path):
    (tmp_path / "map.toml").write_text(text)
    with pytest.raises(MindferryError, match=reason.replace("(", r"\(")) as caught:
        read_user_map(tmp_path / "map.toml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("u", "v", "axis"), [(6, 36, 0), (4, 54, 1)])
def test_spectral_norm_is_folded_over_the_axis_that_its_vectors_fit(u, v, axis, tmp_path):
    arrays = file_of(tmp_path / "a.pth", {"c.weight_orig": (6, 4, 3, 3), "c.weight_u": (u,), "c.weight_v": (v,)})
    convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt")
    weight = arrays["c.weight_orig"]
    sigma = arrays["c.weight_u"] @ np.moveaxis(weight, axis, 0).reshape(u, v) @ arrays["c.weight_v"]
    np.testing.assert_allclose(values(tmp_path / "a.ckpt")["c.weight"], weight / sigma, rtol=1e-5)


def test_factors_that_do_not_fit_are_told_in_one_line_and_nothing_is_written(tmp_path):
    file_of(tmp_path / "a.pth", {"c.weight_orig": (6, 4), "c.weight_u": (5,), "c.weight_v": (3,)})
    with pytest.raises(MindferryError, match=r"c.weight can't be made of tensors of shape"):
        convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt")
    assert not list(tmp_path.glob("*.ckpt"))


def test_on_the_way_back_the_map_counts_too_and_what_torch_does_not_have_is_left_out():
    from mindferry.weights.match import match_reverse
    from mindferry.weights.tree import Slot, Tree

    norm = {"": (), "n": ("nn.BatchNorm2d",)}
    gamma = Slot("n.gamma", "n.gamma", (4,), "float32", 0, optional=True)
    tree = Tree(
        (gamma, Slot("n.moving_mean", "n.moving_mean", (4,), "float32", 1), Slot("t", "t", (2, 3), "float32", 2)), norm
    )
    names = UserMap({"t": "table"}, transforms=((__import__("re").compile("t"), "transpose"),))
    found = match_reverse(tree, {"n.gamma": (4,), "n.moving_mean": (4,), "t": (2, 3)}, names)
    assert {(m.target, m.shape, m.how) for m in found.moves} == {
        ("n.running_mean", (4,), "cell"),
        ("table", (3, 2), "map"),
    }
    assert found.dropped == ("n.gamma",) and not found.missing and not found.unexpected


def test_two_sources_for_one_target_are_refused(tmp_path):
    (tmp_path / "map.toml").write_text('[names]\n"a" = "c"\n"b" = "c"\n')
    file_of(tmp_path / "a.pth", {"a": (2,), "b": (2,)})
    with pytest.raises(WeightsMismatchError, match="b and a both become c"):
        convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt", names=tmp_path / "map.toml")


def test_the_tree_of_a_model_survives_its_journey_as_json(project):
    from mindferry.weights.build import tree_of

    tree = tree_of("nets:Net", project)
    assert tree.cells["conv"][0] == "nn.Conv1d" and tree.cells[""] == ("nets.Net",)
    ties = {slot.path: slot.tie for slot in tree.slots}
    assert ties["head.weight"] == ties["embed.embedding_table"] != ties["conv.weight"]
    assert json.dumps(tree.cells)


def test_the_table_of_layers_agrees_with_the_rules_that_choose_them():
    from mindferry.apis import table
    from mindferry.weights.layers import LAYERS, PLAIN, short

    checked = 0
    for entry in table():
        if not entry.to.startswith("mindspore.nn."):
            continue
        layer = LAYERS.get(short(entry.to), PLAIN)
        inner = f"{layer.children['']}." if "" in layer.children else ""
        names = LAYERS["nn.BatchNorm2d"].names if inner else layer.names
        for name in {"weight", "bias", "running_mean", "running_var"} & set(entry.params):
            assert entry.params[name] == inner + names.get(name, name), entry.to
            checked += 1
    assert checked > 10
