"""Real runs: a converted project under the clocks and profilers, bad scripts, and nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mindferry.artifacts import STATE, ProjectConversion, load
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.frameworks.requests import Plan
from mindferry.tune.run import apply, tune
from mindferry.tune.workload import find_workload
from mindferry.tune_record import TuneRecord

from .bottlenecks import FEW, diagnosed, is_named
from .planted import BASE, PLANTED

TINY = Plan(warm=1, plain=2, observed=2, profiled=1)
REFERENCE = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.fc = nn.Linear(8 * 64, 10)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


def main():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()
    loader = DataLoader(TensorDataset(torch.randn(64, 3, 8, 8), torch.randint(0, 10, (64,))), batch_size=16)
    for epoch in range(10):
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(net(images), labels)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("reference")
    (source / "train.py").write_text(REFERENCE)
    (source / "mindferry.toml").write_text('[train]\nscript = "train.py"\n')
    output = source.parent / "converted"
    convert_project(source, output)
    return output


def test_a_converted_script_is_attributed_beside_torch_and_what_wins_is_applied(converted: Path) -> None:
    files = {path.name for path in converted.iterdir()}
    workload = find_workload(converted)
    record = tune(workload, ("jit",), plan=TINY)
    profile, reference = record.profile, record.reference
    assert reference is not None
    for each in (profile, reference):
        times = {phase.name: phase.seconds for phase in each.phases}
        assert each.attributed == pytest.approx(1 - times.get("unattributed", 0) / sum(times.values()))
        assert {"waiting for data", "forward", "backward", "optimizer"} <= set(times)
        assert min(times["forward"], times["backward"], times["optimizer"]) > 0
    found = {(each.name, each.module, each.phase) for each in profile.operators}
    assert ("Conv2D", "conv", "forward") in found and ("Conv2DBackpropFilter", "conv", "backward") in found
    assert next(each.shapes for each in profile.operators if each.name == "Conv2D") == "[16, 3, 8, 8], [8, 3, 3, 3]"
    assert any(each.module == "conv" and "conv" in each.name for each in reference.operators)
    tried = record.experiments[0]
    assert tried.name == "jit" and tried.status in ("faster", "no faster") and tried.worst < 1e-4
    events = json.loads((converted / profile.trace).read_text())["traceEvents"]
    assert {"forward", "backward", "optimizer", "Conv2D"} <= {event["name"] for event in events}
    assert {path.name for path in converted.iterdir()} - files == set()
    _, changed = apply(workload, record)
    assert bool(changed) == (tried.status == "faster")


def test_too_few_steps_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        f"""{BASE}
net, x = Net(8, 16), ms.Tensor(rng.normal(size=(4, 8)).astype(np.float32))
optimizer = nn.SGD(net.trainable_params(), 0.1)
grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
for _ in range(2):
    loss, grads = grad_fn(x)
    optimizer(grads)
"""
    )
    (tmp_path / "mindferry.toml").write_text('[train]\nscript = "train.py"\n')
    with pytest.raises(MindferryError, match=r"made 2 steps and then ended, which is too few .* let it make 5 or more"):
        tune(find_workload(tmp_path), plan=TINY)


def test_a_model_with_inputs_needs_no_script(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "from mindspore import nn\n\n\ndef net():\n    return nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4))\n"
    )
    record = tune(find_workload(tmp_path, model="model:net", inputs=("float32[4,8]",)), plan=TINY)
    assert record.workload == "model:net on float32[4,8]" and record.reference is None
    assert len(record.profile.losses) == 6 and record.profile.losses[-1] < record.profile.losses[0]


@pytest.mark.slow
@pytest.mark.parametrize("body", ["grads = grad_fn(x)[1]; optimizer(grads)", "whole(x)"])
def test_a_step_function_is_called_until_there_are_enough_steps(body: str, tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(
        f"""{BASE}
net, x = Net(8, 16), ms.Tensor(rng.normal(size=(4, 8)).astype(np.float32))
optimizer = nn.SGD(net.trainable_params(), 0.01)


def forward_fn(x):
    return (net(x) ** 2).mean()


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)


@ms.jit
def whole(x):
    loss, grads = grad_fn(x)
    optimizer(grads)
    return loss


def one():
    {body}
"""
    )
    record = tune(find_workload(tmp_path, step="steps:one"), plan=TINY)
    assert len(record.profile.losses) == 6 and record.profile.losses[-1] < record.profile.losses[0]
    assert {"forward", "backward", "optimizer"} <= {phase.name for phase in record.profile.phases if phase.seconds > 0}


@pytest.mark.slow
def test_a_step_function_that_trains_nothing_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text("def one():\n    pass\n")
    with pytest.raises(MindferryError, match="no optimizer was"):
        tune(find_workload(tmp_path, step="steps:one"), plan=TINY)


BAD = {
    "crashes in step 3": (
        f"{BASE}\n\ndef fail(loss, grads, seen=[]):\n    seen.append(1)\n    if len(seen) == 3:\n        raise ValueError('no more')\n\n\n"
        "train(Net(), batches(Rows(64, (64,)), 8), fail)\n",
        ("after 3 whole ones", "ValueError: no more", "train.py line"),
    ),
    "never trains": ("print('nothing')\n", ("made no training step",)),
    "leaves": ("import sys\nsys.exit('no data here')\n", ("'no data here'",)),
    "does not compile": ("def (:\n", ("SyntaxError",)),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_script_is_one_sentence_and_leaves_no_process_and_no_litter(name: str, tmp_path: Path) -> None:
    text, expected = BAD[name]
    project, here = tmp_path / "project", tmp_path / "here"
    project.mkdir()
    here.mkdir()
    (project / "train.py").write_text(text)
    command = [
        sys.executable,
        "-m",
        "mindferry",
        "tune",
        str(project),
        "--script",
        "train.py",
        "--no-torch",
        "--steps",
        "2",
    ]
    marker = f"MINDFERRY_TEST_{os.getpid()}"
    done = subprocess.run(
        command,
        cwd=here,
        capture_output=True,
        text=True,
        env={**os.environ, "MINDFERRY_TEST": marker, "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("mindferry: ") and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    for part in expected:
        assert part in done.stderr
    assert list(here.iterdir()) == [] and [path.name for path in project.iterdir()] == ["train.py"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("mindferry")] == []
    assert not _processes_with(marker)


def _processes_with(marker: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [path.parent.name] if marker.encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"script": "nope.py"}, "there is no"),
        ({}, "which script trains"),
        ({"model": "model:net"}, "which inputs"),
    ],
)
def test_a_missing_prerequisite_is_one_sentence(options: dict[str, str], expected: str, tmp_path: Path) -> None:
    with pytest.raises(MindferryError, match=expected):
        find_workload(tmp_path, **options)  # type: ignore[arg-type]


def test_the_checkpoint_of_the_reference_is_found_where_weights_read_it(converted: Path) -> None:
    workload = replace(
        find_workload(converted), args=("--weights", "net.pth"), checkpoint=("net.pth", "/elsewhere/net.pth")
    )
    assert workload.request("torch", Plan()).args == ("--weights", "/elsewhere/net.pth")
    assert workload.request("mindspore", Plan()).args == ("--weights", "net.ckpt")


def test_an_unknown_experiment_names_those_that_exist(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    with pytest.raises(MindferryError, match="there are isa, blocking"):
        tune(find_workload(tmp_path, "train.py"), ("faster",))


@pytest.mark.slow  # which cause has the largest share is a matter of time: for an idle machine
@pytest.mark.parametrize("name", [each.name for each in PLANTED])
def test_a_planted_bottleneck_is_diagnosed_as_what_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    bottleneck = next(each for each in PLANTED if each.name == name)
    found = diagnosed(bottleneck, tmp_path)
    assert is_named(bottleneck, found), [(each.code, each.evidence) for each in found]


@pytest.mark.parametrize("name", [each.name for each in PLANTED if each.is_counted])
def test_a_bottleneck_that_counts_show_is_found_on_a_busy_machine_too(name: str, tmp_path: Path) -> None:
    bottleneck = next(each for each in PLANTED if each.name == name)
    found = diagnosed(bottleneck, tmp_path, replace(FEW, seconds=600))
    assert bottleneck.code in {each.code for each in found}, [(each.code, each.evidence) for each in found]


def test_the_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    from mindferry.artifacts import save
    from mindferry.tune.recorded import read_recorded

    from .ascend_layout import write_profile

    record = read_recorded(write_profile(tmp_path / "profile"))
    save(record, tmp_path, "tune")
    assert load(TuneRecord, tmp_path, "tune").profile.operators == record.profile.operators
    assert (tmp_path / STATE / "tune.json").is_file()


def test_try_may_come_before_the_project(tmp_path: Path) -> None:
    from mindferry.cli.tune import _in_any_order

    assert _in_any_order(None, "build/net_ms") == (Path("build/net_ms"), "suggested")
    assert _in_any_order(Path("build/net_ms"), "isa,jit") == (Path("build/net_ms"), "isa,jit")
    assert _in_any_order(None, "isa,jit") == (None, "isa,jit")
    for arguments in (["--try", str(tmp_path)], [str(tmp_path), "--try"], ["--try", "isa,jit", str(tmp_path)]):
        done = subprocess.run([sys.executable, "-m", "mindferry", "tune", *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and "which script trains?" in done.stderr and str(tmp_path) in done.stderr


def test_the_reference_made_by_migrate_has_its_weights(
    converted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """migrate keeps them in .mindferry/reference, and weights.json names them from where migrate was called."""
    monkeypatch.chdir(tmp_path)
    (converted / STATE / "reference").mkdir()
    (converted / STATE / "reference" / "net.pth").write_bytes(b"")
    config = Path(load(ProjectConversion, converted, "convert").source) / "mindferry.toml"
    text = config.read_text()
    try:
        config.write_text(text + 'args = ["--weights", "net.pth"]\n[weights]\nfile = "net.pth"\n')
        given = find_workload(converted).request("torch", Plan()).args
    finally:
        config.write_text(text)
        shutil.rmtree(converted / STATE / "reference")
    assert given == ("--weights", str(converted / STATE / "reference" / "net.pth"))
