"""A new rule file, with torch's own signature filled in where torch is installed."""

from __future__ import annotations

import importlib
import inspect
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..files import write_text
from ._framework import framework, package_of

TEMPLATE = '''"""{api}: say in a sentence what MindSpore does differently."""

from ... import Case, rule

rule(
    "{api}",
    to="mindspore.{home}.{name}",
    args="{args}",
    like="mindspore.{home}.{name}",
    cases=[Case("{before}", "{after}", shapes=((2, 3),))],
)
'''


def scaffold(api: str, output: Path | None) -> Path:
    """Write the file; refuses a name that torch doesn't have and a file that exists."""
    family = next((folder for prefix, folder in framework().families if api.startswith(prefix)), None)
    if family is None:
        raise MindferryError(
            f"{api} is not a name of torch or torchvision; write it in full, such as torch.nn.Softsign"
        )
    subject = _resolve(api)
    name = api.rpartition(".")[2]
    path = output or Path(str(files(package_of(framework().name)))) / family / f"{name.lower()}.py"
    if path.exists():
        raise MindferryError(f"{path} is there already; add the rule to it, or choose another file with -o")
    is_layer = inspect.isclass(subject)
    home, short = ("nn", "nn") if is_layer else ("ops", "ops")
    before = f"nn.{name}()" if is_layer else f"{'F' if family == 'functional' else 'torch'}.{name}(x)"
    after = f"{short}.{name}({'' if is_layer else 'x'})"
    write_text(
        path,
        TEMPLATE.format(api=api, home=home, name=name, args=" ".join(_parameters(subject)), before=before, after=after),
    )
    return path


def _resolve(api: str) -> Any:
    parts = api.split(".")
    try:
        value: Any = importlib.import_module(parts[0])
        for index, part in enumerate(parts[1:], 2):
            try:
                value = getattr(value, part)
            except AttributeError:
                value = importlib.import_module(".".join(parts[:index]))
    except (ImportError, RuntimeError):
        raise MindferryError(f"torch has no {api} (or it isn't installed here); check the name") from None
    return value


def _parameters(subject: Any) -> list[str]:
    try:
        signature = inspect.signature(subject.__init__ if inspect.isclass(subject) else subject)
    except (TypeError, ValueError):
        return ["input"]
    return [
        name
        for name, each in signature.parameters.items()
        if name != "self" and each.kind.name.startswith(("POSITIONAL", "KEYWORD_ONLY"))
    ]
