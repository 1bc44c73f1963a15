"""Export in one worker, reload in another, compare, and put what is right where the user wants it."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..files import complete_or_absent, write_text
from ..frameworks.process import Worker, WorkerError
from ..frameworks.requests import Cipher, ExportedRequest, ExportRequest, PrepareRequest
from .cell import export, prepare, run
from .inputs import is_made, make_arrays
from .result import Export, ExportedFile
from .script import infer_script

STATIC, DYNAMIC, ONNX = "mindir", "mindir with any batch size", "onnx"
FORMS = {"static": (STATIC,), "dynamic": (DYNAMIC,), "both": (STATIC, DYNAMIC)}
TOLERANCE = {STATIC: 1e-5, DYNAMIC: 1e-5, ONNX: 1e-4}  # of the largest output
SETS = 3  # of inputs, for each file
KEY_SIZES = (16, 24, 32)
LAX = {
    "MS_DEV_JIT_SYNTAX_LEVEL": "2"
}  # MindSpore's own advice where export's strict compiler refuses some Python; what comes out is checked

Show = Callable[[str], None]


def export_model(
    converted: Path,
    model: str,
    inputs: Sequence[str],
    output: Path,
    *,
    weights: str = "",
    name: str = "",
    batch: str = "both",
    onnx: bool = False,
    key: bytes = b"",
    mode: str = "AES-GCM",
    show: Show = lambda text: None,
) -> Export:
    """MindIR files of the model in `output`, and an infer.py beside them."""
    if key and len(key) not in KEY_SIZES:
        raise MindferryError(f"the key has {len(key)} bytes; MindSpore takes 16, 24 or 32")
    if onnx and importlib.util.find_spec("onnxruntime") is None:
        raise MindferryError("onnxruntime, which checks the ONNX file, is not installed; run `pip install onnxruntime`")
    begin, name = time.monotonic(), name or _name(model)
    scratch = Path(tempfile.mkdtemp(prefix="mindferry-export-"))
    try:
        files = _Exporter(converted, model, tuple(inputs), weights, name, key, mode, scratch, show).all(
            (*FORMS[batch], *((ONNX,) if onnx else ()))
        )
        placed = tuple(_place(file, scratch, output) for file in files)
        mindir = next((file for file in placed if file.path and file.form != ONNX), None)
        if mindir is not None:
            write_text(output / "infer.py", infer_script(Path(mindir.path).name, inputs, bool(key), mode))
        return Export(model, tuple(inputs), placed, time.monotonic() - begin)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class _Exporter:
    def __init__(
        self,
        converted: Path,
        model: str,
        inputs: tuple[str, ...],
        weights: str,
        name: str,
        key: bytes,
        mode: str,
        scratch: Path,
        show: Show,
    ) -> None:
        self.converted, self.model, self.inputs, self.weights, self.name = converted, model, inputs, weights, name
        self.cipher = Cipher(key.hex(), mode)
        self.scratch, self.show = scratch, show
        self.parameters = str(scratch / "parameters.ckpt")

    def all(self, forms: tuple[str, ...]) -> list[ExportedFile]:
        """One worker a form: after a failed export the same cell can't be exported again."""
        sets = {form: self._inputs(form) for form in forms}
        self.show("running the cell")
        with self._worker() as worker:
            for form in forms:
                expected = self._file(form, "expected")
                request = PrepareRequest(self.model, self.weights, sets[form], expected, self.parameters)
                worker.ask(prepare, request)
                self.weights = self.weights or self.parameters  # the same initial weights for every form
        return [self._one(form, sets[form]) for form in forms]

    def _one(self, form: str, inputs: str) -> ExportedFile:
        self.show(f"exporting {form}")
        suffix = {STATIC: ".mindir", DYNAMIC: "_dynamic.mindir", ONNX: ".onnx"}[form]
        folder = self.scratch / form.replace(" ", "_")
        folder.mkdir()
        cipher = self.cipher if form != ONNX else Cipher()
        path = folder / f"{self.name}{suffix}"
        request = ExportRequest(self.model, self.parameters, inputs, form, str(path), cipher)
        try:
            for environment in (
                {},
                LAX,
            ):  # strict first: the lax compiler leaves Python in graphs of any batch size that need none
                with self._worker(environment) as worker:
                    refused = worker.ask(export, request)
                if "strict mode" not in refused:
                    break
            if refused:
                return ExportedFile(form, "", False, reason=refused)
            for each in (folder, *folder.rglob("*")):
                each.chmod(0o755 if each.is_dir() else 0o644)  # export makes 0700 and 0400 of them
            found = sorted((each for each in folder.iterdir() if each.is_file()), key=lambda each: each.name)
            self.show(f"reloading {form}")
            with self._worker() as worker:
                worker.ask(run, ExportedRequest(str(found[0]), form, inputs, self._file(form, "outputs"), cipher))
        except WorkerError as error:
            return ExportedFile(form, "", False, reason=f"{error.doing}: {error.detail}" if error.doing else str(error))
        compared = self._compare(form)
        size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
        return replace(compared, path=str(found[0]) if compared.passed else "", size=size)

    def _inputs(self, form: str) -> str:
        """Several sets of inputs; with any batch size, of several sizes."""
        import numpy as np

        first = make_arrays(self.inputs, 0)
        size = next((array.shape[0] for array in first if array.ndim), 1)
        sizes = [0, size + 1, 1] if form == DYNAMIC else [0] * SETS
        if not is_made(self.inputs):
            sizes = [0]
        sets = [make_arrays(self.inputs, seed, batch) for seed, batch in enumerate(sizes)]
        path = self._file(form, "inputs")
        np.savez(
            path,
            **{f"{number}/{index}": array for number, arrays in enumerate(sets) for index, array in enumerate(arrays)},
        )
        return path

    def _compare(self, form: str) -> ExportedFile:
        import numpy as np

        worst, count = 0.0, 0
        with np.load(self._file(form, "expected")) as expected, np.load(self._file(form, "outputs")) as outputs:
            if expected.files != outputs.files:
                return ExportedFile(
                    form,
                    "",
                    False,
                    reason=f"the cell gives {len(expected.files)} outputs, the file {len(outputs.files)}",
                )
            for name in expected.files:
                if expected[name].shape != outputs[name].shape:
                    return ExportedFile(
                        form,
                        "",
                        False,
                        reason=f"output {name} has shape {outputs[name].shape}, not {expected[name].shape}",
                    )
                worst = max(worst, distance(expected[name], outputs[name]))
                count = max(count, int(name.partition("/")[0]) + 1)
        passed = worst <= TOLERANCE[form]
        reason = "" if passed else f"its outputs differ from the cell's by {worst:.1e} of the largest"
        return ExportedFile(form, "", passed, worst=worst, inputs=count, reason=reason)

    def _worker(self, environment: dict[str, str] | None = None) -> Worker:
        return Worker("mindspore", project=self.converted, environment=environment)

    def _file(self, form: str, what: str) -> str:
        return str(self.scratch / f"{form.replace(' ', '_')}-{what}.npz")


def distance(expected: Any, found: Any) -> float:
    """Largest error over the largest expected value; infinite where one is not a number and the other is."""
    import numpy as np

    if expected.size == 0:
        return 0.0
    if not np.array_equal(np.isfinite(expected), np.isfinite(found)):
        return float("inf")
    finite = np.isfinite(expected)
    error = np.abs(expected.astype(np.float64) - found.astype(np.float64))[finite]
    return float(
        error.max(initial=0.0) / max(float(np.abs(expected[finite].astype(np.float64)).max(initial=0.0)), 1e-30)
    )


def _place(file: ExportedFile, scratch: Path, output: Path) -> ExportedFile:
    """Copy a checked file, and what belongs to it, to where the user wants it."""
    if not file.path:
        return file
    folder = Path(file.path).parent
    for each in folder.rglob("*"):
        if each.is_file():
            with complete_or_absent(output / each.relative_to(folder)) as partial:
                shutil.copyfile(each, partial)
    return replace(file, path=str(output / Path(file.path).name))


def _name(model: str) -> str:
    return model.partition("(")[0].rpartition(":")[2].lower()
