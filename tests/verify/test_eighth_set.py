"""The eighth set: hand-edited conversions, by their text alone and by a whole run; classes by hand that were called same the first time."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.artifacts import Comparison, Outcome
from mindferry.convert import convert_project, convert_source
from mindferry.verify.hand_edits import differences, gaps_of_edits
from mindferry.verify.run import verify
from mindferry.verify.settings import settings

from . import fifth_twins, fourth_twins, second_twins, sixth_twins, third_twins, twins
from .attacks import Attack, said_of
from .edited_attacks import EDITS, INPUTS, NETWORKS, Edit
from .eighth_attacks import EIGHTH
from .seventh_attacks import RIGHT
from .sixth_attacks import HARMLESS

FOOLED = (
    "a capacity that is never full",
    "ties go to the last",
    "a hash of ids in 32 bits",
    "a dropout of channels",
    "an embedding without its largest norm",
)


@pytest.fixture(scope="module")
def conversions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Network -> its project and its conversion."""
    found = {}
    for name, text in NETWORKS.items():
        folder = tmp_path_factory.mktemp(name)
        (folder / "torch").mkdir()
        (folder / "torch" / "net.py").write_text(text)
        convert_project(folder / "torch", folder / "mindspore")
        found[name] = folder / "torch", folder / "mindspore"
    return found


@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_what_an_edit_does_beside_computing_is_listed(edit: Edit, conversions: dict[str, tuple[Path, Path]]) -> None:
    source, converted = conversions[edit.network]
    written = (converted / "net.py").read_text()
    (converted / "net.py").write_text(edit.of(written))
    try:
        assert gaps_of_edits(source, converted, ["net:Net"])
    finally:
        (converted / "net.py").write_text(written)


def test_a_new_file_that_is_imported_is_looked_at(conversions: dict[str, tuple[Path, Path]]) -> None:
    source, converted = conversions["conv"]
    written = (converted / "net.py").read_text()
    (converted / "net.py").write_text(f"import layers\n{written}")
    (converted / "layers.py").write_text("from mindspore import nn\n\nnn.Dropout.construct = lambda self, x: x\n")
    try:
        found = gaps_of_edits(source, converted, ["net:Net"])
    finally:
        (converted / "net.py").write_text(written)
        (converted / "layers.py").unlink()
    assert [each.name for each in found] == ["layers.py line 3"]


def test_a_file_that_is_no_python_is_passed_by(conversions: dict[str, tuple[Path, Path]]) -> None:
    source, converted = conversions["conv"]
    written = (converted / "net.py").read_text()
    (converted / "net.py").write_text(written.replace("import ms_compat", "import ms_compat\nimport broken"))
    (converted / "broken.py").write_text("def (:\n")
    try:
        assert gaps_of_edits(source, converted, ["net:Net"]) == []
    finally:
        (converted / "net.py").write_text(written)
        (converted / "broken.py").unlink()


CHANGES = (  # what values settle
    ("lin", "h = ms_compat.tanh(self.fc(x))", "h = ops.tanh(self.fc(x))"),
    ("attn", "ops.mean(x, 1)", "x.mean(axis=1)"),
    ("attn", "y.swapaxes(1, 2).reshape(b, n, c)", "ops.transpose(y, (0, 2, 1, 3)).reshape((b, n, c))"),
    ("conv", "x = block(x)", "y = block(x)\n            x = y"),
)


@pytest.mark.parametrize(("network", "before", "after"), CHANGES)
def test_another_way_to_compute_is_not_listed(
    network: str, before: str, after: str, conversions: dict[str, tuple[Path, Path]]
) -> None:
    source, converted = conversions[network]
    written = (converted / "net.py").read_text()
    assert before in written
    (converted / "net.py").write_text(written.replace(before, after))
    try:
        assert gaps_of_edits(source, converted, ["net:Net"]) == []
    finally:
        (converted / "net.py").write_text(written)


def test_an_edited_conversion_is_not_called_same_and_one_that_was_not_touched_is(
    conversions: dict[str, tuple[Path, Path]],
) -> None:
    _, converted = conversions["lin"]
    assert _verified(converted).outcome is Outcome.SAME
    written = (converted / "net.py").read_text()
    (converted / "net.py").write_text(EDITS[0].of(written))
    comparison = _verified(converted)
    (converted / "net.py").write_text(written)
    assert comparison.outcome is Outcome.PARTIAL
    assert [gap.name for gap in comparison.coverage.gaps if gap.subject == "edit"] == ["net.py line 13"]


def _verified(converted: Path) -> Comparison:
    return verify(settings(converted, model="net:Net", inputs=(INPUTS["lin"],)))


RIGHT_TWINS = {
    each.name: each
    for module in (twins, third_twins, fourth_twins, fifth_twins, sixth_twins)
    for each in vars(module).values()
    if isinstance(each, twins.Twin)
} | {each.name: each for each in (*second_twins.OPEN, *second_twins.SEALED, *RIGHT, *HARMLESS)}


@pytest.mark.parametrize("twin", RIGHT_TWINS.values(), ids=str)
def test_nothing_is_listed_for_the_text_of_what_was_rightly_written_by_hand(twin: twins.Twin | Attack) -> None:
    anew = {"net.py": convert_source(twins._HEAD_T + twin.torch).main}
    ours = {"net.py": twins._HEAD_M + twin.mindspore}
    assert list(differences(anew, ours, ["Net"], {"net.py"}, is_edited=False)) == []


@pytest.mark.parametrize("attack", [each for each in EIGHTH if each.name in FOOLED], ids=str)
def test_what_fooled_the_verdict_does_so_no_longer(attack: Attack, tmp_path: Path) -> None:
    assert said_of(attack, tmp_path) != "same"
