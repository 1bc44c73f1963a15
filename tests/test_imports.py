"""The import rule: cli → stages → apis, read, artifacts, findings, frameworks. Stages don't import each other; no framework at a module's top."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src/mindferry"
STAGES = {
    "observe",
    "analyze",
    "convert",
    "library",
    "weights",
    "verify",
    "train",
    "tune",
    "export",
    "launch",
    "report",
}
FRAMEWORKS = {"torch", "torchvision", "timm", "mindspore", "tensorflow", "onnxruntime"}
ABOVE = {"cli", "migrate", "by_observation", "testing", "__init__", "__main__"}  # these put stages together
# (who, whom) -> why it is so today. A new pair is a decision; make it here.
KNOWN = {
    ("analyze", "verify"): "the probe of a model's inputs is verify's: it belongs to frameworks/",
    ("apis", "convert"): "checks/ converts a rule's cases: it belongs to conformance/",
    ("apis", "weights"): "checks/ copies a layer's weights: it belongs to conformance/",
    ("convert", "library"): "what the project brings along is converted with it",
    ("export", "verify"): "the comparison of outputs is verify's",
    ("export", "weights"): "a network is exported with its weights",
    ("frameworks", "verify"): "the workers record and compare with verify's modules: those belong to frameworks/",
    ("frameworks", "weights"): "a worker loads weights",
    ("launch", "weights"): "the last good checkpoint is found by its format",
    ("report", "analyze"): "the page shows analyze's own text",
    ("report", "export"): "the page shows export's own record",
    ("report", "verify"): "the page shows verify's own verdicts",
    ("report", "weights"): "the page shows weights' own names",
    ("train", "weights"): "the first weights are carried over",
    ("tune", "train"): "a workload is a training script, watched as train watches one",
    ("verify", "convert"): "an edited conversion is compared with what convert would write",
    ("tune", "verify"): "a change that is faster must compute the same",
}
EMITTED = ("compat", "recorder", "stand_ins")  # code that runs in the user's project, or in the reference's process


def modules() -> list[tuple[Path, tuple[str, ...]]]:
    found = ((path, path.relative_to(SOURCE).with_suffix("").parts) for path in sorted(SOURCE.rglob("*.py")))
    return [(path, parts) for path, parts in found if not set(EMITTED) & set(parts)]


def imported(tree: ast.AST, parts: tuple[str, ...]) -> set[str]:
    """The first part, below mindferry, of everything that a module imports from the package."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = parts[: len(parts) - node.level]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {".".join([*home, name]).partition(".")[0] for name in names if name}
    return found


def test_stages_do_not_import_each_other() -> None:
    pairs = {(parts[0], each) for path, parts in modules() for each in imported(ast.parse(path.read_text()), parts)}
    wrong = {(who, whom) for who, whom in pairs if who not in ABOVE and who != whom and whom in STAGES}
    assert wrong - set(KNOWN) == set()
    assert set(KNOWN) - wrong == set(), "no exception any more: take it out"


def test_nothing_imports_the_command_line() -> None:
    for path, parts in modules():
        if parts[0] not in ("cli", "__main__", "testing"):
            assert "cli" not in imported(ast.parse(path.read_text()), parts), path


def test_what_stages_stand_on_stands_on_no_stage() -> None:
    for name in ("read", "artifacts", "findings", "errors", "files"):
        for path, parts in modules():
            if parts[0] == name:
                assert not imported(ast.parse(path.read_text()), parts) & STAGES, path


@pytest.mark.parametrize("path", [path for path, _ in modules()], ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_framework_is_imported_at_a_modules_top(path: Path) -> None:
    heads = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            heads |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            heads.add((node.module or "").partition(".")[0])
    assert not heads & FRAMEWORKS
