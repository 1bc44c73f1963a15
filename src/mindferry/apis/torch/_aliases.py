"""Names that torch exports in more than one place, and the one that the table uses: prefixes here, whole names in aliases.tsv."""

from __future__ import annotations

import functools
import re
from importlib.resources import files

ALIASES: tuple[tuple[str, str], ...] = (
    ("torch.nn.modules.module.Module", "torch.nn.Module"),
    ("torch.nn.parameter.Buffer", "torch.nn.Buffer"),
    ("torch.nn.functional._Reduction.", "torch.nn._reduction."),
    ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
    ("torch.nn.parallel.DataParallel", "torch.nn.DataParallel"),
    ("torch.nn.parallel.data_parallel.DataParallel", "torch.nn.DataParallel"),
    ("torch.nn.parallel.distributed.DistributedDataParallel", "torch.nn.parallel.DistributedDataParallel"),
    ("torch.distributed.distributed_c10d.", "torch.distributed."),
    ("torch.distributed.reduce_op.", "torch.distributed.ReduceOp."),
    ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler"),
    ("torch.utils.data.sampler.", "torch.utils.data."),
    ("torch.utils.data._utils.collate.", "torch.utils.data."),
    # What the second version alone has keeps its name.
    ("torchvision.transforms.v2.Transform", "torchvision.transforms.v2.Transform"),
    ("torchvision.transforms.v2._utils.", "torchvision.transforms.v2._utils."),
    ("torchvision.transforms.v2.functional.get_size", "torchvision.transforms.v2.functional.get_size"),
    ("torchvision.transforms.v2.functional.resize", "torchvision.transforms.v2.functional.resize"),
    ("torchvision.transforms.v2.functional.resized_crop", "torchvision.transforms.functional.resized_crop"),
    ("torchvision.transforms.v2.functional.", "torchvision.transforms.functional."),
    ("torchvision.transforms.v2.", "torchvision.transforms."),
    ("torchvision.transforms.transforms.", "torchvision.transforms."),
    ("torchvision.transforms.autoaugment.", "torchvision.transforms."),
    ("torchvision.transforms.functional.InterpolationMode", "torchvision.transforms.InterpolationMode"),
    ("torchvision.datasets.cifar.", "torchvision.datasets."),
    ("torchvision.datasets.mnist.", "torchvision.datasets."),
    ("torchvision.datasets.coco.", "torchvision.datasets."),
    ("torchvision.datasets.voc.", "torchvision.datasets."),
    ("torchvision.datasets.vision.", "torchvision.datasets."),
    ("torchvision.datasets.folder.ImageFolder", "torchvision.datasets.ImageFolder"),
    ("torchvision.datasets.folder.DatasetFolder", "torchvision.datasets.DatasetFolder"),
    ("torchvision.datasets.DistributedSampler", "torch.utils.data.DistributedSampler"),
    ("einops.einops.", "einops."),
    ("torchvision.ops.boxes.", "torchvision.ops."),
    ("torchvision.ops.misc.", "torchvision.ops."),
    ("torch.optim.adam.Adam", "torch.optim.Adam"),
    ("torch.optim.optimizer.Optimizer", "torch.optim.Optimizer"),
    ("torch.cuda.amp.GradScaler.", "torch.amp.GradScaler."),
    ("torch.cuda.amp.grad_scaler.", "torch.cuda.amp."),
    ("torch.distributions.bernoulli.", "torch.distributions."),
    ("torch.distributions.beta.", "torch.distributions."),
    ("torch.distributions.binomial.", "torch.distributions."),
    ("torch.distributions.categorical.", "torch.distributions."),
    ("torch.distributions.chi2.", "torch.distributions."),
    ("torch.distributions.dirichlet.", "torch.distributions."),
    ("torch.distributions.distribution.", "torch.distributions."),
    ("torch.distributions.exp_family.", "torch.distributions."),
    ("torch.distributions.exponential.", "torch.distributions."),
    ("torch.distributions.gamma.", "torch.distributions."),
    ("torch.distributions.geometric.", "torch.distributions."),
    ("torch.distributions.gumbel.", "torch.distributions."),
    ("torch.distributions.independent.", "torch.distributions."),
    ("torch.distributions.kl.", "torch.distributions."),
    ("torch.distributions.laplace.", "torch.distributions."),
    ("torch.distributions.log_normal.", "torch.distributions."),
    ("torch.distributions.mixture_same_family.", "torch.distributions."),
    ("torch.distributions.multivariate_normal.", "torch.distributions."),
    ("torch.distributions.normal.", "torch.distributions."),
    ("torch.distributions.one_hot_categorical.", "torch.distributions."),
    ("torch.distributions.poisson.", "torch.distributions."),
    ("torch.distributions.studentT.", "torch.distributions."),
    ("torch.distributions.transformed_distribution.", "torch.distributions."),
    ("torch.distributions.transforms.", "torch.distributions."),
    ("torch.distributions.uniform.", "torch.distributions."),
    ("tensorboardX.", "torch.utils.tensorboard."),
    ("torchmetrics.aggregation.", "torchmetrics."),
    ("torchmetrics.regression.", "torchmetrics."),
    ("torchmetrics.collections.", "torchmetrics."),
    *(
        (f"torchmetrics.classification.{name}", f"torchmetrics.{name}")
        for name in (
            "Accuracy F1Score Precision Recall Specificity HammingDistance FBetaScore ConfusionMatrix JaccardIndex "
            "CohenKappa MatthewsCorrCoef AUROC AveragePrecision"
        ).split()
    ),
    ("torchmetrics.classification.accuracy.", "torchmetrics.classification."),
    ("torchmetrics.functional.classification.", "torchmetrics.functional."),
    ("torch.functional.", "torch."),
    ("torch.nn.modules.utils.", "torch.nn.modules.utils."),
)

_NN_HOME = re.compile(r"^torch\.nn\.modules\.[a-z_]+\.(?=[A-Z])")  # torch.nn.modules.batchnorm.BatchNorm2d

_LIGHTNING = re.compile(
    r"^(?:pytorch_lightning|lightning\.pytorch|lightning\.fabric|lightning)\.((?:[a-z_]+\.)*)(\w+.*)$"
)
_LIGHTNING_PARTS = ("callbacks", "loggers", "utilities", "tuner", "cli", "strategies", "profilers", "plugins")
_LIGHTNING_HOMES = {"Callback": "callbacks", "CombinedLoader": "utilities", "seed_everything": "", "Fabric": ""}


@functools.cache
def canonical(api: str) -> str:
    """One name for APIs that torch exports in several places, their methods and attributes included."""
    if lightning := _LIGHTNING.match(api):
        return _in_lightning(lightning[1], lightning[2])
    known, rest = api, ""
    while known:
        if known in _exports():
            return _exports()[known] + rest
        known, dot, name = known.rpartition(".")
        rest = f"{dot}{name}{rest}"
    for alias, home in ALIASES:
        if api.startswith(alias):
            return home + api[len(alias) :]
    return _NN_HOME.sub("torch.nn.", api) if api.startswith("torch.nn.modules.") else api


def _in_lightning(modules: str, name: str) -> str:
    """Its two packages have the same names, and modules within modules: callbacks.early_stopping.EarlyStopping."""
    part = modules.partition(".")[0]
    part = _LIGHTNING_HOMES.get(name.partition(".")[0], part if part in _LIGHTNING_PARTS else "")
    return f"pytorch_lightning.{part}.{name}" if part else f"pytorch_lightning.{name}"


@functools.cache
def _exports() -> dict[str, str]:
    text = (files("mindferry.apis.torch") / "aliases.tsv").read_text("utf-8")
    rows = (line.partition("\t") for line in text.splitlines() if not line.startswith("#"))
    return {written: home for written, _, home in rows}
