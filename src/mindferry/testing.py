"""For the user's own tests: `assert_same(torch_module, cell, inputs)`, and `Pair` for the tests that `mindferry convert --tests` writes."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .artifacts import Comparison, Outcome


def assert_same(
    torch_module: Any, cell: Any, inputs: Any, *, modes: Sequence[str] = ("eval", "train"), k: float = 4.0
) -> Comparison:
    """Fail unless `cell` computes what `torch_module` does: outputs, gradients, statistics, of every module inside.

    What could not be compared (a branch that these inputs never reach) is a warning; `.outcome` of what is returned tells.

    The torch module's weights are copied into `cell` first. `inputs` is a tensor or array, a tuple of them, a
    dictionary of keyword arguments, or text such as 'float32[4,3,32,32]'. See docs/how-to/verify.md for `k`.

        def test_block():
            assert_same(torch_model.Block(8), model.Block(8), "float32[2,8,16,16]")
    """
    from .verify.judge import Rule
    from .verify.live import compare
    from .verify.table import failures

    comparison = compare(torch_module, cell, inputs, modes=modes, rule=Rule(k=k))
    if comparison.outcome is Outcome.DIFFERENT:
        raise AssertionError("\n".join(failures(comparison)))
    if comparison.outcome is Outcome.PARTIAL:
        warnings.warn("\n".join(failures(comparison)), stacklevel=2)
    return comparison


class Pair:
    """A torch project and its conversion, side by side in one process, though their modules have the same names.

        PAIR = Pair("my_project", "my_project_ms", model="model:resnet50", inputs=["float32[2,3,64,64]"])

        def test_bottleneck():
            PAIR.check("model:Bottleneck(64, 64)", inputs="float32[2,64,8,8]")

    Where `model` holds a module of the class, that one is tested, on what reaches it there.
    """

    def __init__(
        self, torch: str | Path, mindspore: str | Path, *, model: str = "", inputs: Sequence[str] = (), seed: int = 0
    ) -> None:
        self.torch, self.mindspore, self.model, self.inputs = Path(torch), Path(mindspore), model, list(inputs)
        self.seed = seed
        self._network: dict[str, tuple[Any, Any, Any]] | None = None  # class -> module, cell, inputs

    def check(self, spec: str, *, inputs: str = "", why: str = "") -> None:
        """Test the class that `spec` names; skip, with the reason, where the original or its arguments are not to be had."""
        import pytest

        if not self.torch.is_dir():
            pytest.skip(f"the torch project {self.torch} is not here")
        if importlib.util.find_spec("torch") is None:
            pytest.skip("torch is not installed here")
        name = spec.partition("(")[0]
        inside = self._inside().get(name.partition(":")[2])
        if inside is not None:
            assert_same(*inside)
        elif why or not inputs:
            pytest.skip(f"{why or 'its input is not known'}; test it with assert_same and inputs of your own")
        else:
            module, cell = self._build(spec)
            given = self._accepted(module, inputs)
            assert_same(module, cell, given)

    def _build(self, spec: str) -> tuple[Any, Any]:
        import torch

        from .verify.named import build, shake

        torch.manual_seed(self.seed)
        with modules_of(self.torch):
            module = build(spec)
        with modules_of(self.mindspore):
            cell = build(spec)
        shake(module, self.seed)
        return module, cell

    def _accepted(self, module: Any, inputs: str) -> list[Any]:
        import pytest

        from .verify.named import make_inputs, one_line

        given = [value for _, value in make_inputs([inputs], self.seed)]
        try:
            module(*given)
        except Exception as error:
            pytest.skip(
                f"torch's own {type(module).__name__} does not take {inputs} ({one_line(error)}); write its input here"
            )
        return given

    def _inside(self) -> dict[str, tuple[Any, Any, Any]]:
        """The first module of each class in the network, its cell, and what it is called with."""
        if self._network is None:
            self._network = {}
            if self.model:
                self._network = _parts(*self._build(self.model), self.inputs, self.seed)
        return self._network


def _parts(module: Any, cell: Any, inputs: Sequence[str], seed: int) -> dict[str, tuple[Any, Any, Any]]:
    import torch

    from .verify.dropout import without_dropout
    from .verify.named import make_inputs
    from .verify.nested_inputs import call

    cells = dict(cell.cells_and_names())
    paths: dict[str, str] = {}
    for path, part in module.named_modules():
        if path in cells:
            paths.setdefault(type(part).__name__, path)
    called: dict[str, Any] = {}
    handles = []
    for path in paths.values():

        def note(_: Any, args: Any, kwargs: Any, path: str = path) -> None:
            called.setdefault(path, dict(kwargs) if kwargs and not args else args if not kwargs else None)

        handles.append(module.get_submodule(path).register_forward_pre_hook(note, with_kwargs=True))
    given = make_inputs(inputs, seed)
    with torch.no_grad(), without_dropout(module.eval()):
        call(module, [value for name, value in given if not name], {name: value for name, value in given if name})
    for handle in handles:
        handle.remove()
    return {
        name: (module.get_submodule(path), cells[path], called[path])
        for name, path in paths.items()
        if called.get(path) is not None
    }


@contextmanager
def modules_of(project: Path) -> Iterator[None]:
    """Imports come from this project, and its modules are forgotten afterwards: the other project has the same names."""
    folder = str(project.resolve())
    names = {path.stem for path in project.glob("*.py")} | {path.parent.name for path in project.glob("*/*.py")}
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in names}
    before = set(sys.modules)
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                del sys.modules[name]
        sys.modules.update(hidden)
