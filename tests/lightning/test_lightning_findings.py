"""What a Trainer or a module asks for that has no counterpart is a finding with its line; what has one leaves none."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry import convert_source
from mindferry.convert import convert_project

MODULE = """\
import {package} as pl
import torch


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()
{more}

"""


def messages(more: str = "", after: str = "", package: str = "pytorch_lightning") -> list[str]:
    source = MODULE.format(package=package, more=more) + after
    return [f"{each.line}: {each.code} {each.message}" for each in convert_source(source).findings]


@pytest.mark.parametrize("package", ["pytorch_lightning", "lightning", "lightning.pytorch"])
def test_a_module_converts_whatever_the_package_is_called(package: str) -> None:
    source = (
        MODULE.format(package=package, more="") + "trainer = pl.Trainer(max_epochs=2, accelerator='gpu', devices=1)\n"
    )
    conversion = convert_source(source)
    assert conversion.findings == ()
    assert "class Net(LightningModule)" in conversion.main or "class Net(ms_compat.LightningModule)" in conversion.main
    assert "Trainer(max_epochs=2)" in conversion.main
    assert "import torch" not in conversion.code and f"import {package}" not in conversion.code


@pytest.mark.parametrize(
    "option",
    [
        "strategy='ddp'",
        "devices=4",
        "devices=count",
        "gpus=2",
        "num_nodes=2",
        "precision=16",
        "precision='bf16-mixed'",
        "max_time='00:01:00:00'",
        "plugins=[x]",
        "profiler='simple'",
        "sync_batchnorm=True",
        "auto_lr_find=True",
        "overfit_batches=0.1",
        "resume_from_checkpoint='a.ckpt'",
        "detect_anomaly=True",
    ],
)
def test_an_option_of_the_trainer_that_means_something_else_here_is_a_finding(option: str) -> None:
    found = messages(after=f"x = count = 2\ntrainer = pl.Trainer(max_epochs=2, {option})\n")
    assert len(found) == 1 and found[0].startswith("15: MF110 Trainer("), found
    assert option.partition("=")[0] in found[0]


@pytest.mark.parametrize(
    "option",
    [
        "strategy='auto'",
        "devices='auto'",
        "gpus=1",
        "precision=32",
        "precision='32-true'",
        "profiler=None",
        "accelerator='auto'",
        "benchmark=True",
        "enable_model_summary=False",
        "deterministic=True",
        "max_steps=5",
    ],
)
def test_an_option_that_means_what_happens_anyway_is_none(option: str) -> None:
    assert messages(after=f"trainer = pl.Trainer(max_epochs=2, {option})\n") == []


@pytest.mark.parametrize("hook", ["training_step_end", "on_epoch_end", "on_batch_start", "tbptt_split_batch"])
def test_a_hook_that_nothing_calls_is_a_finding(hook: str) -> None:
    found = messages(more=f"\n    def {hook}(self, *args):\n        pass\n")
    assert len(found) == 1 and found[0].startswith("13: MF110") and hook in found[0]


def test_a_hook_of_a_callback_that_nothing_calls_is_a_finding() -> None:
    more = "\n\nclass Watch(pl.Callback):\n    def on_epoch_end(self, trainer, pl_module):\n        pass\n"
    assert [each[:9] for each in messages(after=more)] == ["17: MF110"]


def test_an_own_backward_is_a_finding() -> None:
    found = messages(more="\n    def backward(self, loss):\n        self.last = loss\n")
    assert len(found) == 1 and "backward() is not called" in found[0]


def test_hooks_around_a_backward_that_was_lifted_are_findings() -> None:
    more = (
        "\n    def manual(self, batch):\n        loss = self.layer(batch).mean()\n        self.manual_backward(loss)\n"
        "        self.optimizers().step()\n\n    def on_after_backward(self):\n        print('after')\n"
    )
    found = messages(more=more)
    assert len(found) == 1 and "on_after_backward() is not called" in found[0]


def test_a_manual_backward_whose_loss_cannot_be_seen_is_a_finding() -> None:
    found = messages(more="\n    def step(self, loss):\n        self.manual_backward(loss)\n")
    assert len(found) == 1 and found[0].startswith("14: MF201 this backward() was not lifted")


@pytest.mark.parametrize(
    "name",
    [
        "loggers.WandbLogger('a')",
        "callbacks.StochasticWeightAveraging(0.1)",
        "callbacks.Timer()",
        "cli.LightningCLI(Net)",
        "strategies.DDPStrategy()",
        "callbacks.Unheard()",
    ],
)
def test_a_class_of_lightning_without_counterpart_is_a_finding(name: str) -> None:
    found = messages(after=f"kept = pl.{name}\n")
    assert len(found) == 1 and found[0].startswith(("14: MF101 pytorch_lightning.", "14: MF100 pytorch_lightning.")), (
        found
    )


def test_names_deep_inside_the_package_are_the_same_classes() -> None:
    source = (
        "from lightning.pytorch.callbacks.early_stopping import EarlyStopping\n"
        "from pytorch_lightning.callbacks.model_checkpoint import ModelCheckpoint as Saver\n"
        "from pytorch_lightning.utilities.types import STEP_OUTPUT\n"
        "from lightning.fabric.utilities.seed import seed_everything\n"
        "from pytorch_lightning.core.lightning import LightningModule\n"
        "import torch\n\n"
        "seed_everything(3)\n"
        "kept = [EarlyStopping('a'), Saver(), LightningModule]\n\n\n"
        "def show(x: STEP_OUTPUT):\n    return torch.sum(x)\n"
    )
    conversion = convert_source(source)
    assert conversion.findings == ()
    assert "lightning.pytorch" not in conversion.main and "pytorch_lightning" not in conversion.main


def test_an_option_that_comes_by_unpacking_is_refused_at_run_time() -> None:
    conversion = convert_source("import pytorch_lightning as pl\nimport torch\n\ntrainer = pl.Trainer(**options)\n")
    names: dict[str, object] = {"options": {"strategy": "ddp"}, "__name__": "converted"}
    with pytest.raises(NotImplementedError, match="strategy='ddp'"):
        exec(compile(conversion.code, "converted.py", "exec"), names)


def test_the_folder_of_a_package_is_no_stranger_to_itself(tmp_path: Path) -> None:
    folder = tmp_path / "torchmetrics"
    (folder / "utilities").mkdir(parents=True)
    text = "import torch\nfrom torchmetrics.utilities.prints import warn\n\n\ndef show(x):\n    warn(torch.sum(x))\n"
    (folder / "utilities" / "data.py").write_text(text)
    conversion = convert_project(folder, tmp_path / "out")
    assert [finding.message for file in conversion.files for finding in file.findings] == []
    assert "from torchmetrics.utilities.prints import warn" in (tmp_path / "out" / "utilities" / "data.py").read_text()


def test_a_metric_that_has_no_counterpart_is_a_finding() -> None:
    source = "import torch\nimport torchmetrics\n\nkept = torchmetrics.image.FrechetInceptionDistance()\n"
    assert [(each.line, each.code) for each in convert_source(source).findings] == [(4, "MF100")]


@pytest.mark.parametrize(
    "value", ['str(torch.device("cpu"))', "f'{torch.device(0)}'", '"gpu" if torch.cuda.is_available() else "cpu"']
)
def test_an_option_that_is_dropped_takes_along_what_is_written_in_it(value: str) -> None:
    source = f"import pytorch_lightning as pl\nimport torch\n\nt = pl.Trainer(\n    accelerator={value},\n    max_epochs=2,\n)\n"
    conversion = convert_source(source)
    assert conversion.findings == ()
    assert "Trainer(\n    max_epochs=2,\n)" in conversion.main
