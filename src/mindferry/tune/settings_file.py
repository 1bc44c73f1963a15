"""ms_tuning.py in the converted project: the settings that won, each under its name, imported first by the training script."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from ..files import write_text

NAME = "ms_tuning.py"
IMPORT = "import ms_tuning  # settings measured by `mindferry tune`; before anything computes"
_ENTRY = re.compile(r"^# ([a-z]+):", re.MULTILINE)
_FIGURE = re.compile(r"^# ([a-z]+): .* \(([^()]*)\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Setting:
    """Lines for ms_tuning.py. `early` ones come before MindSpore is imported."""

    early: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


SETTINGS: dict[str, Setting] = {
    "isa": Setting(
        early=(
            'if os.path.exists("/proc/cpuinfo") and "avx512f" in open("/proc/cpuinfo").read():',
            '    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")',
        )
    ),
    "cache": Setting(
        early=(
            'os.environ.setdefault("MS_COMPILER_CACHE_ENABLE", "1")',
            'os.environ.setdefault("MS_COMPILER_CACHE_PATH", os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile_cache"))',
        )
    ),
    "blocking": Setting(late=('if ms.get_context("device_target") == "CPU":', "    ms.runtime.launch_blocking()")),
    "graph": Setting(late=("ms.set_context(mode=ms.GRAPH_MODE)",)),
    "prefetch": Setting(late=("ms.dataset.config.set_prefetch_size(64)",)),
}
WHAT = {
    "isa": "the bundled oneDNN computes convolutions with its reference code on AVX-512 hosts, unless held to AVX2",
    "cache": "compiled graphs are kept for the next start",
    "blocking": "on a CPU, launching operators one after another beats handing them to threads that share the same cores",
    "graph": "networks and gradients run as compiled graphs",
    "prefetch": "more rows wait between the operations of the data pipeline",
}


def settings_path(project: Path, script: str) -> Path:
    """Beside the script, which finds its imports there."""
    return (project / script).parent / NAME if script else project / NAME


def read_applied(project: Path, script: str) -> set[str]:
    """Names of the settings that the project has already."""
    return set(_ENTRY.findall(_read(settings_path(project, script)))) & set(SETTINGS)


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


def settings_text(names: set[str], measured: dict[str, str]) -> str:
    """The module for these settings; `measured` adds what each one did, by name."""
    chosen = [name for name in SETTINGS if name in names]
    parts = [
        '"""Settings that `mindferry tune` measured on this project. Take a part out to undo it."""',
        "",
        "import os",
        "",
    ]
    late = [name for name in chosen if SETTINGS[name].late]
    for name in chosen:
        if SETTINGS[name].early:
            parts += [_comment(name, measured), *SETTINGS[name].early, ""]
    if late:
        parts += ["import mindspore as ms  # noqa: E402  (the environment comes first)", ""]
    for name in late:
        parts += [_comment(name, measured), *SETTINGS[name].late, ""]
    return "\n".join(parts).rstrip() + "\n"


def _comment(name: str, measured: dict[str, str]) -> str:
    figure = f" ({measured[name]})" if name in measured else ""
    return f"# {name}: {WHAT[name]}{figure}"


def write_settings(project: Path, script: str, names: set[str], measured: dict[str, str]) -> list[Path]:
    """Add settings to the project and have its script import them; what is there already stays."""
    wanted = names & set(SETTINGS)
    if not wanted:
        return []
    path, entry = settings_path(project, script), project / script
    old = _read(path)
    figures = {name: figure for name, figure in _FIGURE.findall(old) if name in SETTINGS}
    text = settings_text(read_applied(project, script) | wanted, {**figures, **measured})
    changed = []
    if old != text:
        write_text(path, text)
        changed.append(path)
    if script and "import ms_tuning" not in (source := entry.read_text("utf-8")):
        write_text(entry, with_import(source))
        changed.append(entry)
    return changed


def with_import(source: str) -> str:
    """The import goes after the docstring and __future__ imports, before everything else."""
    lines, last = source.split("\n"), 0
    for node in ast.parse(source).body:
        is_docstring = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if not (is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")):
            break
        last = node.end_lineno or 0
    if last == 0:
        while last < len(lines) and lines[last].startswith("#"):  # a shebang, an encoding, a licence
            last += 1
    gap = [""] if last and (last >= len(lines) or lines[last].strip()) else lines[last : last + 1] if last else []
    rest = lines[last + 1 :] if gap and last < len(lines) and not lines[last].strip() else lines[last:]
    return "\n".join([*lines[:last], *gap, IMPORT, *rest])
