"""Other versions of MindSpore: what they lack is said, and so is what nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.analyze import analyze_project, versions
from mindferry.analyze.sheets import sheets
from mindferry.apis import Rule, table
from mindferry.errors import MindferryError


def test_all_versions_that_were_read_are_known_and_others_are_refused() -> None:
    assert versions.known_versions() == ["2.7", "2.8", "2.9", "2.10"] and versions.checked("2.8.1") == "2.8"
    with pytest.raises(MindferryError, match=r"nothing is known here of MindSpore 1.9; choose one of 2.7"):
        versions.checked("1.9")


def test_an_argument_that_came_later_is_named() -> None:
    entry = Rule("torch.made_up", to="mindspore.value_and_grad")
    assert versions.fewer_arguments(entry, "2.7") == "in 2.7 mindspore.value_and_grad has no sens_param"
    assert versions.fewer_arguments(entry, "2.8") == versions.fewer_arguments(entry, versions.MEASURED) == ""


def test_a_counterpart_that_a_version_lacks_counts_as_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_versions", lambda: {"2.8": {"absent": ["mindspore.ops.zeros"], "without": {}}})
    (tmp_path / "main.py").write_text("import torch\nx = torch.zeros(3)\ny = torch.ones(3)\n")
    kinds = {}
    for version in ("2.8", "2.10"):
        inventory = analyze_project(tmp_path, mindspore=version)
        kinds[version] = {use.api: use.kind for use in inventory.apis}
        summary = next(sheet.summary for sheet in sheets(inventory) if sheet.title == "API satisfaction")
        assert f"on CPU, MindSpore {version}" in summary and ("measured with 2.10 only" in summary) == (
            version == "2.8"
        )
    assert kinds["2.8"]["torch.zeros"] == "missing" != kinds["2.10"]["torch.zeros"]
    assert kinds["2.8"]["torch.ones"] == kinds["2.10"]["torch.ones"]


def test_a_helper_needs_what_the_helpers_that_it_uses_need() -> None:
    needs = versions.helper_needs()
    assert "mindspore.ops.stop_gradient" in needs["compat.BatchNorm2d"]  # in the function `cumulate`
    helpers = {each.to for each in table() if each.to.startswith("compat.") and each.to.count(".") == 1}
    assert len(helpers & set(needs)) > 0.9 * len(helpers)
