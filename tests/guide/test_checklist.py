"""The guide's first chapter: what a person reads off a project before the migration, filled in by `mindferry analyze`."""

from __future__ import annotations

from pathlib import Path

import pytest
from guide_projects import write

from mindferry.analyze import analyze_project
from mindferry.artifacts import Inventory

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
STEP = "optimizer.zero_grad()\n{0}F.mse_loss(net(x), y).backward()\n{0}optimizer.step()\n"
SETUP = HEAD + "net = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"


def analyze(folder: Path, text: str, **others: str) -> Inventory:
    return analyze_project(write(folder, {"main.py": text, **{f"{name}.py": each for name, each in others.items()}}))


def rows(inventory: Inventory, topic: str) -> list[tuple[str, str]]:
    return [(each.name, each.value) for each in inventory.tricks if each.topic == topic]


BATCHES = "    for x, y in loader:\n        " + STEP.format("        ")
RUN = "def run(loader):\n" + BATCHES


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for i in range(90):\n" + BATCHES, ("epochs", "90")),
        ("for _ in range(1, 91):\n" + BATCHES, ("epochs", "90")),
        ("ROUNDS = 30\nfor i in range(ROUNDS):\n" + BATCHES, ("epochs", "30")),
        (RUN + "for i in range(90):\n    run(loader)\n", ("epochs", "90")),
        (RUN + "def main(times=12):\n    for i in range(times):\n        run(loader)\n", ("epochs", "12")),
        ("for i in range(500):\n    " + STEP.format("    "), ("steps", "500")),
    ],
)
def test_any_counted_loop_around_a_step_tells_how_often_it_is_done(
    tmp_path: Path, loop: str, expected: tuple[str, str]
) -> None:
    found = rows(analyze(tmp_path, SETUP + loop), "epochs")
    assert [name for name, _ in found] == [expected[0]] and expected[1] in found[0][1]


def test_the_loop_and_the_step_may_be_in_different_files(tmp_path: Path) -> None:
    inventory = analyze(
        tmp_path, HEAD + "from engine import run\nfor i in range(90):\n    run([])\n", engine=SETUP + RUN
    )
    assert rows(inventory, "epochs") == [("epochs", "90")]


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(90):\n    x = torch.ones(2) * i\n",
        "for part in range(4):\n    for epoch in range(9):\n    " + BATCHES.replace("\n", "\n    ") + "pass\n",
        "accum_steps = 4\nfor x, y in loader:\n    for j in range(accum_steps):\n        " + STEP.format("        "),
    ],
)
def test_a_loop_that_trains_nothing_or_is_no_round_of_its_own_is_no_epoch(tmp_path: Path, text: str) -> None:
    assert rows(analyze(tmp_path, SETUP + text), "epochs") in ([], [("epochs", "9")])


DETECTOR = (
    HEAD
    + """
class CSPDarknet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)


class YOLOPAFPN(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = CSPDarknet()
        self.lateral = nn.Conv2d(8, 8, 1)


class Heads(nn.Module):
    def __init__(self, strides):
        super().__init__()
        self.cls_convs = nn.ModuleList([nn.Conv2d(8, 8, 3) for _ in strides])
        self.reg_convs = nn.ModuleList([nn.Conv2d(8, 8, 3) for _ in strides])

    def decode(self, outputs, grids, strides):
        outputs[..., :2] = (outputs[..., :2] + grids) * strides
        outputs[..., 2:4] = torch.exp(outputs[..., 2:4]) * strides
        return outputs

    def match(self, cost, overlaps, count):
        best, _ = torch.topk(overlaps, 10, dim=1)
        ks = torch.clamp(best.sum(1).int(), min=1)
        for target in range(count):
            _, place = torch.topk(cost[target], k=ks[target].item(), largest=False)
        return place


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = YOLOPAFPN()
        self.top = Heads([8, 16])
"""
)
TRAINING = (
    HEAD
    + """
def average(kept, model, decay):
    with torch.no_grad():
        for a, b in zip(kept.parameters(), model.parameters()):
            a.copy_(decay * a + (1 - decay) * b)


def four_in_one(images, size):
    canvas = np.full((size * 2, size * 2, 3), 114)
    for i in range(4):
        canvas[:size, :size] = images[i]
    return canvas


def blend(x, order):
    lam = np.random.beta(1.0, 1.0)
    return lam * x + (1 - lam) * x[order]


def weigh(logits, target, gamma=2.0):
    p = torch.exp(-F.cross_entropy(logits, target, reduction="none"))
    return ((1 - p) ** gamma).mean()


def rate(step, total, base):
    import math
    return base * 0.5 * (1.0 + math.cos(math.pi * step / total))


def before_epoch(epoch, loader, max_epoch):
    if epoch == max_epoch - 15:
        loader.close_mosaic()
"""
)


def test_a_neck_that_is_held_as_backbone_is_a_neck(tmp_path: Path) -> None:
    parts = {part.name: part for part in analyze(tmp_path, DETECTOR).parts}
    assert parts["Detector"].children[0] == "backbone: YOLOPAFPN [neck]"
    assert parts["YOLOPAFPN"].role == "neck" and parts["CSPDarknet"].role == "backbone"


def test_what_a_network_does_is_recognised_by_its_code_and_not_by_its_name(tmp_path: Path) -> None:
    found = dict(_places(analyze(tmp_path, DETECTOR), "structure"))
    assert {"decoupled head", "anchor-free", "SimOTA"} <= set(found)
    lines = DETECTOR.splitlines()
    assert "largest=False" in lines[found["SimOTA"] - 1] and "torch.exp" in lines[found["anchor-free"] - 1]


def test_what_a_training_does_is_recognised_by_its_code(tmp_path: Path) -> None:
    inventory = analyze(tmp_path, TRAINING)
    shown = {(each.topic, each.name) for each in inventory.tricks}
    assert {
        ("training", "EMA"),
        ("training", "focal loss"),
        ("training", "no augmentation at the end"),
        ("augmentation", "mosaic"),
        ("augmentation", "mixup"),
        ("learning rate", "cosine by hand"),
    } <= shown


def test_code_that_looks_a_little_like_it_is_not_taken_for_it(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls_score = nn.Linear(8, 2)
        self.bbox_pred = nn.Linear(8, 4)

    def decode(self, out, anchors, strides):
        return torch.exp(out[..., 2:4]) * anchors * strides


def nearest(x, k):
    return torch.topk(x, k, largest=False)


def mix(a, b, w):
    return w * a + (1 - w) * b


def squared(x):
    return (1 - x) ** 2
"""
    )
    assert analyze(tmp_path, text).tricks == ()


def _places(inventory: Inventory, topic: str) -> list[tuple[str, int]]:
    return [(each.name, each.line) for each in inventory.tricks if each.topic == topic]


DYNAMIC = """
class Net(nn.Module):
    def forward(self, x, k, lengths, index, axes):
        n = torch.tensor(3)
        {}
"""


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("return x[:n]", "slice by data"),
        ("return x[:, k:]", "slice by data"),
        ("return torch.topk(x, k)", "topk with a variable number"),
        ("return x.topk(int(lengths.max()))", "topk with computed k"),
        ("return torch.multinomial(x, n)", "multinomial with a variable number"),
        ("return torch.repeat_interleave(x, lengths, dim=0)", "repeat_interleave with a variable number"),
        ("return torch.segment_reduce(x, 'sum', lengths=lengths)", "segment_reduce with a variable number"),
        ("return torch.gather(x, 1, index)", "gather with an index of variable length"),
        ("return x.index_select(0, torch.nonzero(x[0]).flatten())", "nonzero"),
        ("return x.sum(dim=tuple(axes.tolist()))", "sum over computed axes"),
        ("return x.permute(*axes.tolist())", "permute over computed axes"),
        ("return x[x > 0]", "index by mask"),
        ("return torch.unique(x)", "unique"),
        ("return torch.masked_select(x, x > 0)", "masked_select"),
        ("return x[:2] if x.sum() > 0 else x", "data-dependent branch"),
    ],
)
def test_a_shape_that_depends_on_data_is_shown_with_a_way_round(tmp_path: Path, code: str, kind: str) -> None:
    places = analyze(tmp_path, HEAD + DYNAMIC.format(code)).dynamic
    assert kind in [each.topic for each in places] and all(each.advice for each in places)


@pytest.mark.parametrize(
    "code",
    [
        "return x[:3]",
        "return x[: x.shape[0] // 2]",
        "return torch.topk(x, 5)",
        "return torch.multinomial(x, 2)",
        "return x.repeat_interleave(2, dim=0)",
        "return x.sum(dim=(0, 1))",
        "return x.permute(1, 0)",
        "return torch.gather(x, 1, x.argmax(1, keepdim=True))",
        "return torch.max(x, lengths)",
    ],
)
def test_a_shape_that_the_inputs_shape_decides_is_not_shown(tmp_path: Path, code: str) -> None:
    assert analyze(tmp_path, HEAD + DYNAMIC.format(code)).dynamic == ()


@pytest.mark.parametrize(
    "body",
    [
        "longest = max(len(each) for each in batch)\n    return torch.zeros(len(batch), longest)",
        "return np.zeros((len(batch), max(map(len, batch))))",
        "size = max(each.shape[0] for each in batch)\n    return [F.pad(e, (0, size - len(e))) for e in batch]",
        "return tokenizer(batch, padding=True)",
        "return nn.utils.rnn.pad_sequence(batch)",
    ],
)
def test_padding_to_the_longest_of_a_batch_is_an_input_of_varying_size(tmp_path: Path, body: str) -> None:
    places = analyze(tmp_path, HEAD + f"tokenizer = None\n\n\ndef collate(batch):\n    {body}\n").dynamic
    assert [each.advice for each in places] == ["pad every batch to the same length, or to a few (buckets)"]


def test_a_sparse_tensor_goes_dense_and_accumulates_where_memory_runs_short(tmp_path: Path) -> None:
    places = analyze(tmp_path, HEAD + "a = torch.eye(3).to_sparse()\ne = nn.Embedding(9, 2, sparse=True)\n").special
    advice = [each.advice for each in places if each.topic == "sparse tensor"]
    assert len(advice) == 2 and all("dense" in each and "accumulate gradients" in each for each in advice)


def test_packages_are_held_against_what_is_installed_and_what_mindspore_needs(tmp_path: Path) -> None:
    from importlib.metadata import version

    asked = f"click=={version('click')}\nnumpy>=2.1  # newer\nrich<1\nno-such-package-at-all\ntimm==0.9\ntorch==1.0.0\n"
    inventory = analyze_project(write(tmp_path, {"main.py": HEAD, "requirements.txt": asked}))
    found = {each.name: each.verdict for each in inventory.packages}
    assert found["click"] == "as asked" and found["numpy"] == "MindSpore needs numpy<2"
    assert (
        found["rich"] == "another version is installed here" and found["no-such-package-at-all"] == "not installed here"
    )
    assert found["timm"].startswith("needs torch") and "another version here" in found["torch"]
    assert [each.line for each in inventory.packages] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("version", "asked", "expected"),
    [
        ("1.26.4", ">=1.20,<2", True),
        ("1.26.4+cpu", "==1.26.4", True),
        ("2.0", "~=1.9", False),
        ("1.9.3", "~=1.9", True),
        ("1.10", ">=1.9", True),
        ("1.2.3", "==1.2.*", True),
        ("3.0", "!=3.0.0", False),
        ("", ">=1", False),
        ("", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, asked: str, expected: bool) -> None:
    from mindferry.analyze.pins import satisfies

    assert satisfies(version, asked) is expected


def test_the_metric_that_the_reference_prints_is_part_of_the_baseline() -> None:
    from mindferry.analyze.baseline import last_metrics

    printed = (
        "epoch 1 val acc: 71.5%\nepoch 2 loss 0.3 val acc: 91.25%\nmIoU=0.55\nTop-1 accuracy 0.9\nmap of files: 3\n"
    )
    found = last_metrics(printed)
    assert found["val acc"] == "91.25%" and found["miou"] == "0.55" and "0.9" in found.values()
    assert last_metrics("capacity: 5\nlr = 0.1\nstep 3/10") == {}


def test_an_api_that_only_upstream_can_give_comes_with_the_text_of_the_request(tmp_path: Path) -> None:
    from mindferry.analyze.markdown import markdown

    inventory = analyze(
        tmp_path, HEAD + "q = torch.ao.quantization.QuantStub()\nr = torch.ao.quantization.QuantStub()\n"
    )
    page = markdown(inventory)
    assert "[Feature] A counterpart of torch.ao.quantization.QuantStub" in page.replace("\\", "")
    assert "main.py:6, main.py:7" in page and "gitee.com/mindspore" in page


def test_the_api_table_shows_names_and_not_how_they_are_made(tmp_path: Path) -> None:
    text = """
def penalty(net, x):
    x = x.clone().requires_grad_(True)
    y = net(x).sum()
    g, = torch.autograd.grad(y, x, create_graph=True)
    return g.norm(), x.is_cuda, x.shape, x.ndim, x.grad, x.device.index
"""
    inventory = analyze(tmp_path, HEAD + text)
    assert not [use for use in inventory.apis if "{" in use.counterpart + use.differs]
    assert not [
        use for use in inventory.apis if use.differs in (f"called {use.api.rpartition('.')[2]}", "called shape")
    ]
    assert [use.api for use in inventory.apis if use.kind in ("missing", "unknown")] == []


def test_nothing_that_is_converted_is_called_missing(tmp_path: Path) -> None:
    from mindferry.convert import convert_project

    text = "net = nn.Linear(2, 1)\nx = torch.ones(1, 2, requires_grad=True)\ny = net(x)\ntorch.autograd.backward(y)\nprint(x.grad)\n"
    folder = write(tmp_path / "p", {"main.py": HEAD + text})
    inventory = analyze_project(folder, check=lambda path: convert_project(path, tmp_path / "out", check=True))
    assert inventory.effort is not None and inventory.effort.todo == ()
    assert [use.api for use in inventory.apis if use.kind == "missing"] == []
