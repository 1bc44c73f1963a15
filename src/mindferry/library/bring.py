"""The libraries that a project asked to bring along: what of them it reaches, cut down, beside the project's own files."""

from __future__ import annotations

import ast
import functools
import json
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from .. import findings
from ..artifacts import Finding
from ..errors import MindferryError
from ..files import read_regular
from ..layout import LARGEST_CODE, Layout, ProjectFile
from ..read.source import Source, Unreadable
from .asked_names import NOWHERE, Wishes
from .cache import kept_text
from .conflicts import version_conflicts
from .cut import Cut, is_bare, lazy_text
from .gates import Gates
from .notice import notice_text
from .own_package import FOLDER
from .packages import Package, find_package
from .reach import Reach
from .required_packages import Installed, with_required
from .sources import Module, Sources

LIMIT = 400  # modules
SERVED = frozenset(
    {"accelerate", "einops", "safetensors", "lightning", "pytorch_lightning", "torchmetrics"}
)  # by the table
OF_TORCH = frozenset({"torch", "torchvision", "torchaudio"})  # come along only where they are asked for
SERVED_MODULES = ("safetensors.torch",)  # parts of packages


@dataclass(frozen=True, slots=True)
class Brought:
    files: tuple[ProjectFile, ...]  # cut down, still torch's
    plain: dict[str, bytes]  # written as they are: licences, the notice, the package's own beginning
    findings: tuple[Finding, ...]
    packages: tuple[Package, ...]


def bring(
    layout: Layout,
    names: tuple[str, ...],
    sites: tuple[Path, ...],
    limit: int,
    needs_torch: Callable[[str], bool],
    extra: tuple[str, ...] = (),
) -> Brought:
    """What the project reaches of these packages. `extra` are names that an observation saw: 'timm.models.resnet.resnet18'."""
    asked = [find_package(name, sites) for name in dict.fromkeys(names) if name not in SERVED]
    for package in asked:
        if package.refusal:
            raise MindferryError(package.refusal)
    packages = with_required(asked, sites, SERVED | OF_TORCH, needs_torch)
    installed = Installed((*map(str, sites), *sys.path))
    gates = Gates(frozenset(each.name for each in packages), needs_torch, installed.has("torchvision"))
    sources = Sources(packages, gates.condition)
    gates.sources = sources
    reach = Wishes(sources, left_behind(), limit, layout.root)
    for file in layout.files:
        if file.is_code:
            for module in project_modules(file):
                sources.index(module)
                reach.ask_for_file(module)
    reach.ask_opened()
    reach.ask_parts()
    reach.ask_kinds()
    for name in extra:
        home, _, last = name.rpartition(".")
        if sources.is_ours(home):
            reach.ask(home, last)
            reach.run()
    brought = _files(reach, packages, gates, needs_torch)
    reached = {name.partition(".")[0] for name in reach.modules}
    packages = [each for each in packages if each in asked or each.name in reached]
    found = (
        *_refused(reach, {file.path: file.relative for file in layout.files}),
        *_undecided(reach),
        *_findings(reach, packages, limit),
        *version_conflicts(layout, packages, installed),
    )
    return Brought(brought, _plain(packages, reach), found, tuple(packages))


@functools.cache
def left_behind() -> dict[str, str]:
    found: dict[str, str] = tomllib.loads(files("mindferry.library").joinpath("left_behind.toml").read_text("utf-8"))
    return found


def project_modules(file: ProjectFile) -> list[Module]:
    """The code of a file or of a notebook's cells; what can't be read is said by its own conversion."""
    try:
        raw = read_regular(file.path, LARGEST_CODE)
        if file.module:
            text = Source(raw, file.relative).data.decode("utf-8")
            return [Module(file.module, file.path, file.is_package, text, ast.parse(text))]
        cells = json.loads(raw).get("cells", [])
    except (OSError, Unreadable, ValueError, SyntaxError, RecursionError, AttributeError):
        return []
    found = []
    for cell in cells if isinstance(cells, list) else []:
        source = cell.get("source", "") if isinstance(cell, dict) and cell.get("cell_type") == "code" else ""
        text = "".join(each for each in source if isinstance(each, str)) if isinstance(source, str | list) else ""
        lines = [line if not line.lstrip().startswith(("%", "!")) else "pass" for line in text.split("\n")]
        try:
            found.append(ast.parse("\n".join(lines)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    joined = ast.Module([statement for each in found for statement in each.body], [])
    return [Module(file.relative, file.path, False, "", joined)]


def _files(
    reach: Reach, packages: list[Package], gates: Gates, needs_torch: Callable[[str], bool]
) -> tuple[ProjectFile, ...]:
    def outside(module: str) -> str:
        head = module.partition(".")[0]
        if module in SERVED_MODULES or head == "torch":
            return ""
        return f"{head} needs torch itself; bring it along too, with --with {head}" if needs_torch(head) else ""

    return cut_files(reach, gates, outside)


def cut_files(reach: Reach, gates: Gates, outside: Callable[[str], str]) -> tuple[ProjectFile, ...]:
    """The modules that are reached, with no more in them than that. `outside` says why a module can't be imported, or ''."""
    made = []
    texts = {name: _cut_text(reach, name, outside, gates) for name in sorted(reach.modules)}
    for name, text in texts.items():
        module = reach.modules[name].module
        if module.is_package and "." in name and is_bare(text):  # Python takes the folder for a package all the same
            del reach.modules[name]
            continue
        relative = "/".join([FOLDER, *name.split(".")]) + ("/__init__.py" if module.is_package else ".py")
        path = kept_text("cut", text.encode("utf-8"), ".py")
        made.append(ProjectFile(path, relative, name, module.is_package, is_brought=True))
    return tuple(made)


def _cut_text(reach: Reach, name: str, outside: Callable[[str], str], gates: Gates) -> str:
    reached = reach.modules[name]
    text = Cut(reach, reached, outside, gates).text()
    return lazy_text(reach, reached.module, text) if reached.module.is_lazy or reached.module.lazy else text


def _plain(packages: list[Package], reach: Reach) -> dict[str, bytes]:
    plain = {
        f"{FOLDER}/__init__.py": files("mindferry.library").joinpath("ported_init.py").read_bytes(),
        f"{FOLDER}/NOTICE.md": notice_text(packages, reach).encode("utf-8"),
    }
    for package in packages:
        for file in package.licence_files:
            plain[f"{FOLDER}/{package.name}/{file.name}"] = file.read_bytes()
    return plain


def _refused(reach: Wishes, paths: dict[Path, str]) -> list[Finding]:
    """What the project's own files name of a part that means nothing in a converted project: using it raises an error."""
    out = "take it out, or put it where the converted project does not come by"
    other = (
        "take the name that replaced it, or name the folder of the version that the project was written for with --site"
    )
    return [
        Finding(
            findings.MF152,
            "error",
            paths[path],
            line,
            1,
            f"{place} was left behind: {why}",
            other if why == NOWHERE else out,
        )
        for (path, place), (line, why) in reach.refused.items()
    ]


def _undecided(reach: Wishes) -> list[Finding]:
    """`AutoModel.from_pretrained(args.model)`, and no text says which network that may be."""
    if not reach.undecided:
        return []
    message = f"{reach.undecided} chooses its network when it runs: no text of the project names a folder with a config.json, nor a kind of network"
    advice = "import the configuration's class, `from transformers import BertConfig`, so that this network comes along"
    return [Finding(findings.MF152, "error", f"{FOLDER}/NOTICE.md", 1, 1, message, advice)]


def _findings(reach: Reach, packages: list[Package], limit: int) -> list[Finding]:
    found = []
    over = [each for each in reach.left.values() if each.why == "too many modules"]
    if over:
        first = over[0]
        found.append(
            Finding(
                findings.MF152,
                "error",
                f"{FOLDER}/NOTICE.md",
                1,
                1,
                f"the project reaches more than {limit} modules of {', '.join(each.name for each in packages)}: "
                f"{first.name}, which {first.pulled_by} pulls in, and {len(over) - 1} others were left behind",
                "take what is used from the module that defines it, or raise --with-limit",
            )
        )
    for each in reach.left.values():
        if each.why in ("it is compiled code", "it can't be read"):
            found.append(
                Finding(
                    findings.MF152,
                    "warning",
                    f"{FOLDER}/NOTICE.md",
                    1,
                    1,
                    f"{each.name}, which {each.pulled_by} uses, was left behind: {each.why}",
                    "what uses it raises an error that says so; replace it if that is ever reached",
                )
            )
    for package in packages:
        if not any(name.partition(".")[0] == package.name for name in reach.modules):
            found.append(
                Finding(
                    findings.MF152,
                    "warning",
                    f"{FOLDER}/NOTICE.md",
                    1,
                    1,
                    f"nothing of {package.name} is used by the project, so nothing of it was brought along",
                    f"leave out --with {package.name}",
                )
            )
    return found
