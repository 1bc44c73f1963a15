"""What is run: a training script, a step function, or a model with inputs; in the converted project and in its reference."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..artifacts import STATE, ProjectConversion, WeightsReport, load
from ..config import read_config
from ..errors import MindferryError
from ..frameworks.requests import Plan, TuneRequest
from ..layout import source_framework

_TORCH_FILE = re.compile(r"\.(pth\.tar|pth|pt)$")


@dataclass(frozen=True, slots=True)
class Workload:
    project: Path
    reference: Path | None  # the original project, where it is known
    script: str = ""
    args: tuple[str, ...] = ()
    model: str = ""
    inputs: tuple[str, ...] = ()
    step: str = ""
    helpers: tuple[str, ...] = ()
    tolerance: float = 1e-3
    checkpoint: tuple[str, str] = ("", "")  # as the arguments name it, and where the reference's really lies
    source: str = "torch"  # the reference's framework

    def __str__(self) -> str:
        if self.model:
            return f"{self.model} on {', '.join(self.inputs)}"
        return self.step or " ".join(["python", self.script, *self.args])

    def request(self, framework: str, plan: Plan) -> TuneRequest:
        """What a worker is asked to run; the checkpoint is named as that framework's project has it."""
        name, path = self.checkpoint
        if framework == "mindspore":
            args = tuple(_TORCH_FILE.sub(".ckpt", each) for each in self.args)
        else:
            args = tuple(path if each == name and path else each for each in self.args)
        return TuneRequest(plan, self.script, args, self.model, self.inputs, self.step)


def find_workload(
    project: Path,
    script: str = "",
    args: tuple[str, ...] | None = None,
    model: str = "",
    inputs: tuple[str, ...] = (),
    step: str = "",
) -> Workload:
    """Options first, then mindferry.toml. A project that mindferry didn't convert has no reference."""
    if not project.is_dir():
        raise MindferryError(
            f"there is no folder {project}; give the output of `mindferry convert`, or a MindSpore project"
        )
    reference: Path | None = None
    helpers: tuple[str, ...] = ()
    if (project / STATE / "convert.json").is_file():
        record = load(ProjectConversion, project, "convert")
        origin = Path(record.source)
        reference = origin if origin.is_dir() else None
        helpers = record.helper_modules
    config = read_config(reference or project)
    if model and not (inputs or config.verify.inputs):
        raise MindferryError(f"which inputs does {model} take? Give --input 'float32[4,3,224,224]'")
    script = "" if model or step else script or config.train.script
    if not (script or model or step):
        raise MindferryError(
            f"which script trains? Name it with --script, or in {(reference or project) / 'mindferry.toml'}, [train] script"
        )
    if script and not (project / script).is_file():
        raise MindferryError(
            f"there is no {project / script}; name the training script with --script, relative to {project}"
        )
    chosen = config.train.args if args is None else args
    given = inputs or config.verify.inputs if model else ()
    checkpoint = (config.weights.file, _checkpoint(project, reference, config.weights.file))
    source = source_framework(reference, script.removesuffix(".py").replace("/", "."))
    tolerance = config.train.tolerance
    return Workload(
        project, reference, script, chosen, model, tuple(given), step, helpers, tolerance, checkpoint, source
    )


def _checkpoint(project: Path, reference: Path | None, name: str) -> str:
    """Where the reference's weights lie: beside its script, where `migrate` had it make them, or where `mindferry weights` read them."""
    places = [folder / name for folder in (reference, project / STATE / "reference") if folder is not None and name]
    try:
        places.append(Path(load(WeightsReport, project, "weights").source))
    except MindferryError:
        pass  # no weights were converted
    return next((str(path.resolve()) for path in places if path.is_file()), "")
