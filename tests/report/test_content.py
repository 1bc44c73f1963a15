"""What the report says, whatever its form."""

from __future__ import annotations

import json
import math
import os
import shutil
from dataclasses import replace
from pathlib import Path

import made
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindferry import artifacts
from mindferry.artifacts import STATE, Comparison, Gap, Outcome, ProjectConversion, Step
from mindferry.observation import CommandRun, Observation, SeenFile
from mindferry.observe.verified import with_gaps
from mindferry.report import content, render
from mindferry.report.gather import gather
from mindferry.report.lines import steps
from mindferry.report.markdown import text
from mindferry.report.modules import tree
from mindferry.report.overview import verdict_of
from mindferry.report.reach import is_passed_by
from mindferry.verify.data import PipelineComparison, Pipelines

LINES = st.lists(st.sampled_from(["x = 1", "x = 2", "y = f(x)", "", "return y", "    pass"]), max_size=25)


@given(LINES, LINES)
def test_walking_down_both_sides_meets_every_line_once(before: list[str], after: list[str]) -> None:
    i = j = 0
    for kind, left, right in steps(before, after):
        if kind == "=":
            assert before[i : i + left] == after[j : j + right]
        assert {"=": left == right, "~": (left, right) == (1, 1), "-": right == 0, "+": left == 0}[kind]
        i, j = i + left, j + right
    assert (i, j) == (len(before), len(after))


def test_lines_that_resemble_each_other_share_a_row() -> None:
    before = ["loss.backward()", "optimizer.step()", "total += loss.item() * targets.size(0)"]
    after = ["grads = grad_fn(images)", "total += loss.item() * targets.shape[0]"]
    assert steps(before, after)[-1] == ("~", 1, 1)


def test_every_rewrite_is_found_where_it_stands(tmp_path: Path) -> None:
    report = content(made.convert(tmp_path, {"net.py": made.NET}))
    file = next(each for each in report.code if each.path == "net.py")
    after = (tmp_path / "project_ms/net.py").read_text().splitlines()
    assert len(file.marks) == 11
    for mark in file.marks:
        for (line, column, length), lines, said in (
            (mark.left, file.before, mark.before),
            (mark.right, after, mark.after),
        ):
            assert length and lines[line][column : column + length] == said.split("\n")[0]


def test_equal_rewrites_in_one_block_are_told_apart(tmp_path: Path) -> None:
    code = (
        "import torch\n\ndef f(x: torch.Tensor):\n    a = x.size(0) + x.size(0)\n    b = x.size(0)\n    return a, b\n"
    )
    report = content(made.convert(tmp_path, {"f.py": code}))
    marks = [mark for mark in report.code[0].marks if mark.rule == "torch.Tensor.size"]
    assert [mark.left[0] for mark in marks] == [3, 3, 4]
    assert len({mark.left for mark in marks}) == len({mark.right for mark in marks}) == 3


def test_rules_tell_what_differs(tmp_path: Path) -> None:
    card = content(made.convert(tmp_path, {"net.py": made.NET})).rules["torch.nn.Conv2d"]
    assert card.becomes == "mindspore.nn.Conv2d" and card.kind == "native" and "pad_mode" in card.differs


def test_the_tree_has_every_module_once_and_parents_first() -> None:
    modules = tree(made.comparison(made.PATHS)).modules
    paths = [module.path for module in modules]
    assert sorted(paths) == sorted(made.PATHS)
    assert all(paths.index(path.rpartition(".")[0]) < paths.index(path) for path in paths if path)


def test_own_and_inherited_errors_are_told_apart() -> None:
    found = tree(made.comparison(made.PATHS, wrong="body.0.bn1"))
    columns = [(column.group, column.measure) for column in found.columns]
    after = next(module for module in found.modules if module.path == "fc")
    culprit = next(module for module in found.modules if module.is_culprit)
    inherited, own = columns.index(("forward", "inherited")), columns.index(("forward", "own"))
    assert culprit.path == "body.0.bn1"
    assert not after.cells[inherited].passed and after.cells[own].passed  # type: ignore[union-attr]
    assert not culprit.cells[own].passed  # type: ignore[union-attr]


def test_a_gradient_has_no_inherited_error_where_none_was_measured() -> None:
    found = tree(made.comparison(made.PATHS))
    assert [column.measure for column in found.columns if column.group == "gradient"] == ["own"]


def test_nothing_compared_is_not_called_the_same(tmp_path: Path) -> None:
    overview = content(made.empty(tmp_path)).overview
    assert overview.state == "unmeasured" and "nothing here" in overview.verdict
    output = made.convert(tmp_path, {"net.py": made.NET})
    artifacts.save(Comparison("net:Net", "", (), None, True), output, "verify")
    assert content(output).overview.state == "unmeasured"


def test_the_first_divergence_points_to_the_class_that_makes_it(tmp_path: Path) -> None:
    task = next(each for each in content(made.failing(tmp_path)).overview.todo if each.stage == "verify")
    assert (task.path, task.line) == ("net.py", 6)


def test_a_stage_older_than_the_conversion_is_told(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    path = artifacts.save(made.comparison(made.PATHS), output, "verify")
    assert content(output).overview.notes == ()
    os.utime(path, (1e9, 1e9))
    assert "verify ran before the code was converted" in content(output).overview.notes[0]


def test_a_conversion_newer_than_its_comparison_is_not_called_the_same(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    path = artifacts.save(made.comparison(made.PATHS), output, "verify")
    assert content(output).overview.state == "same"
    os.utime(path, (1e9, 1e9))
    told = content(output).overview
    assert told.state == "unmeasured" and f"run `mindferry verify {output}` again" in told.detail


def test_pipelines_and_exported_files_count_too(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    artifacts.save(made.comparison(made.PATHS), output, "verify")
    artifacts.save(made.pipelines(), output, "data")
    artifacts.save(made.export(), output, "export")
    told = content(output).overview
    assert told.state == "same" and "78 batches of 2 data pipelines agree (1 random part" in told.detail
    assert {line.stage: line.state for line in told.stages}["export"] == "ok"
    artifacts.save(made.pipelines(wrong=True), output, "data")
    artifacts.save(made.export(wrong=True), output, "export")
    told = content(output).overview
    assert told.state == "different" and [task.stage for task in told.todo] == ["data", "export"]
    assert told.todo[0].what == "data:test_loader <b>: values in epoch 1, batch 3, image"
    assert "data:test\\_loader &lt;b>" in render(content(output), "markdown")


def test_what_is_left_does_not_hide_that_the_rest_is_the_same(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET, "spy.py": made.LEFT})
    assert content(output).overview.verdict == "3 things are left for you."
    artifacts.save(made.comparison(made.PATHS), output, "verify")
    told = content(output).overview
    assert told.state == "open" and told.verdict == "Same as far as compared; 3 things are left for you."


def test_what_is_left_where_the_command_did_not_run_is_told_so(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET, "spy.py": made.LEFT})
    artifacts.save(made.comparison(made.PATHS), output, "verify")
    passed = [each.line for each in gather(output).convert.findings if each.severity == "error"]
    run = CommandRun(("python", "spy.py"), "itself", 1.0)
    whole = tuple(range(1, 20))
    for seen, told in (
        (Observation("p", (run,), (), unloaded=("spy.py",)), "3 places are left where it did not run."),
        (Observation("p", (run,), (SeenFile("spy.py", "", (1,), whole),)), "3 places are left where it did not run."),
        (Observation("p", (run,), (SeenFile("spy.py", "", (1, passed[-1]), whole),)), "3 things are left for you."),
        (Observation("p", (run,), ()), "3 things are left for you."),  # nobody knows
    ):
        artifacts.save(seen, output, "observe")
        overview = content(output).overview
        assert overview.state == "open" and overview.verdict == f"Same as far as compared; {told}"
    assert is_passed_by(Observation("p", (run,), ()), "demo.ipynb:cell 2", 1)
    assert not is_passed_by(replace(seen, runs=(replace(run, command=("demo.ipynb",)),)), "demo.ipynb:cell 2", 1)


def test_places_that_ran_come_first(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET, "spy.py": made.LEFT})
    last = max(each.line for each in gather(output).convert.findings if each.severity == "error")
    seen = Observation("p", (), (SeenFile("spy.py", "", (last,), tuple(range(1, 20))),))
    artifacts.save(seen, output, "observe")
    assert content(output).overview.todo[0].line == last


def test_what_could_be_compared_and_was_not_is_told(tmp_path: Path) -> None:
    training = "import torch\nfrom torch.utils.data import DataLoader\nloader = DataLoader([1])\nsgd = torch.optim.SGD([], lr=0.1)\n"
    bare, whole = (
        made.convert(tmp_path / "a", {"net.py": made.NET}),
        made.convert(tmp_path / "b", {"net.py": made.NET, "train.py": training}),
    )
    assert [task.stage for task in content(bare).overview.unmeasured] == ["verify"]
    assert [task.stage for task in content(whole).overview.unmeasured] == ["verify", "data", "train", "plain"]


def test_a_step_that_takes_many_times_that_of_torch_is_worth_a_look(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    record = made.tune()
    artifacts.save(record, output, "tune")
    assert content(output).overview.warnings == ()
    artifacts.save(replace(record, reference=replace(record.reference, step_seconds=0.007)), output, "tune")
    (task,) = content(output).overview.warnings
    assert task.what == "a training step takes 10 times as long as in torch"
    assert {line.stage: line.state for line in content(output).overview.stages}["tune"] == "warn"


def test_a_source_that_changed_or_went_is_told(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    source = tmp_path / "project/net.py"
    os.utime(source, (2e9, 2e9))
    assert "edited after" in content(output).code[0].note
    source.unlink()
    gone = content(output).code[0]
    assert "no longer at" in gone.note and gone.before == () and len(gone.after) > 20


def test_a_file_too_large_to_show_is_told(tmp_path: Path) -> None:
    long = "import torch\n" + "# a comment\n" * 100_000
    file = content(made.convert(tmp_path, {"long.py": long})).code[0]
    assert "larger than 1 MB" in file.note and not file.before and not file.after


def test_files_that_only_the_analysis_knows_are_shown_too(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    record = artifacts.load(ProjectConversion, output, "convert")
    other = ProjectConversion(record.source, record.output, (artifacts.FileConversion("other.txt", "copied", ""),))
    inventory = artifacts.load(artifacts.Inventory, output, "analyze")
    artifacts.save(
        artifacts.Inventory(
            inventory.root, (*inventory.files, "other.txt"), inventory.torch_files, 1, inventory.apis, (), ()
        ),
        output,
        "analyze",
    )
    artifacts.save(other, output, "convert")
    file = next(each for each in content(output).code if each.path == "net.py")
    assert file.status == "not converted" and file.before[1] == "import torch"


def test_statistics_are_read_once_and_kept(tmp_path: Path) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    output = made.convert(tmp_path, {"net.py": made.NET})
    dice = np.random.default_rng(0)
    values = dice.normal(size=(8, 3, 3)).astype(np.float32)
    save_file({"a.weight": values, "b.weight": values}, tmp_path / "net.safetensors")
    save_file({"a.weight": values, "b.weight": values * 2}, output / "net_ms.safetensors")
    report = made.weights("a.weight", "b.weight")
    report = artifacts.WeightsReport(
        str(tmp_path / "net.safetensors"), str(output / "net_ms.safetensors"), report.entries
    )
    artifacts.save(report, output, "weights")
    told = content(output).weights
    assert told is not None and told.differing == 1 and not told.note
    assert [each.source for each in told.parameters] == ["b.weight", "a.weight"]  # what differs comes first
    assert told.parameters[1].before is not None and told.parameters[1].before.low == pytest.approx(
        float(values.min()), rel=1e-5
    )
    (tmp_path / "net.safetensors").unlink()
    again = content(output).weights
    assert again == told


def test_json_holds_what_the_page_shows(tmp_path: Path) -> None:
    output = made.failing(tmp_path)
    told = json.loads(render(content(output), "json"))
    assert told["kind"] == "Report" and told["overview"]["state"] == "different"
    assert {"analysis", "code", "weights", "verification", "modules", "training", "performance"} <= told.keys()
    assert [task["path"] for task in told["overview"]["todo"]][:2] == ["unreadable.py", "spy.py"]


def test_markdown_has_the_verdict_the_tasks_and_no_markup_of_the_project(tmp_path: Path) -> None:
    told = render(content(made.failing(tmp_path)), "markdown")
    assert told.startswith("# project: ❌ The conversion does not behave like the original yet.")
    assert "| 2 | spy.py:9 | MF101 torch.cuda.memory\\_snapshot" in told
    assert "old.&lt;weight>" in told and "old.<weight>" not in told
    assert "**First divergence: body.0.bn1.**" in told


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("a|b", "a\\|b"),
        ("<script>", "&lt;script>"),
        ("`x|y`", "`x\\|y`"),
        ("one ` tick", "one \\` tick"),
        ("a_b *c*\n[d]", "a\\_b \\*c\\* \\[d\\]"),
    ],
)
def test_markdown_escapes(said: str, written: str) -> None:
    assert text(said) == written


def test_a_moved_folder_still_gives_a_report(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    moved = tmp_path / "elsewhere"
    shutil.move(output, moved)
    file = content(moved).code[0]
    assert file.before and file.after


def test_nan_and_infinity_are_no_numbers_in_the_page(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    rows = made.comparison(made.PATHS, wrong="stem").differences
    bad = artifacts.Difference(
        "stem",
        "output",
        (1,),
        float("inf"),
        float("inf"),
        float("nan"),
        5e-6,
        float("nan"),
        float("nan"),
        False,
        note="not finite",
    )
    artifacts.save(Comparison("net:Net", "", (bad, *rows), None, False, "stem"), output, "verify")
    page = render(content(output), "html")
    assert "NaN" not in page.split('id="report">')[1].split("</script>")[0]
    assert (output / STATE).is_dir()


def test_only_a_script_that_ran_by_itself_behaves_like_the_original(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    artifacts.save(made.curves(12), output, "train")
    told = content(output).overview
    assert told.state == "open" and f"`mindferry train {output} --plain` runs it" in told.detail
    artifacts.save(made.comparison(made.PATHS), output, "verify")
    artifacts.save(made.plain(12), output, "plain")
    told = content(output).overview
    assert told.state == "same" and "its losses of 12 steps lie in the band of 3 seeds of torch." in told.detail
    artifacts.save(made.plain(12, fails=True), output, "plain")
    told = content(output).overview
    assert told.state == "different" and told.detail.startswith("net.py:7: the converted script fails: ValueError")
    assert "net.py:7: the converted script fails" in render(content(output), "markdown")


def test_losses_alone_are_not_called_the_same(tmp_path: Path) -> None:
    """The script trains alike and runs by itself, but no network was compared by itself, or not every one."""
    output = made.convert(tmp_path, {"net.py": made.NET})
    artifacts.save(made.curves(12), output, "train")
    artifacts.save(made.plain(12), output, "plain")
    told = verdict_of(gather(output))
    assert told.outcome is Outcome.PARTIAL and told.missing == ("no network by itself",)
    gap = Gap("network", "net.Other", "not comparable", "it was made and never called")
    artifacts.save(with_gaps(made.comparison(made.PATHS), [gap]), output, "verify")
    told = verdict_of(gather(output))
    assert told.outcome is Outcome.PARTIAL and told.missing == ("net.Other: it was made and never called",)
    assert "behaves like" not in told.text and told.text.startswith("Same as far as compared")


@pytest.mark.parametrize(
    ("stage", "artifact", "said"),
    [
        ("train", replace(made.curves(12), reference=(Step(math.nan, 0.1, 1.0),) * 12), "no numbers in the original"),
        ("train", replace(made.curves(12), reference=(Step(1.5, 0.1, 1.0),) * 12), "the same at every step"),
        ("train", replace(made.curves(12), reference=()), "training"),
        ("train", replace(made.curves(12), unmatched=("teacher.fc.weight",)), "1 parameter without a twin"),
        ("plain", replace(made.plain(12), losses=(), seeds=((), (), ())), "neither side made a training step"),
        ("plain", replace(made.plain(12), seeds=((math.nan,) * 12,) * 3), "no numbers in the original"),
        ("data", Pipelines((), True), "the batches of the data loaders"),
        ("data", Pipelines((PipelineComparison("l", (0, 0), False, 0, 0.0, ()),), True), "gave no batch"),
    ],
)
def test_what_tells_nothing_is_not_called_the_same(tmp_path: Path, stage: str, artifact: object, said: str) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    whole = {"verify": made.comparison(made.PATHS), "train": made.curves(12), "plain": made.plain(12)}
    for name, each in whole.items():
        artifacts.save(each, output, name)
    assert verdict_of(gather(output)).outcome is Outcome.SAME
    artifacts.save(artifact, output, stage)
    told = verdict_of(gather(output))
    assert told.outcome is Outcome.PARTIAL and said in " ".join(told.missing)


def test_an_edited_conversion_is_not_called_the_same_by_what_was_measured_before(tmp_path: Path) -> None:
    output = made.convert(tmp_path, {"net.py": made.NET})
    artifacts.save(made.comparison(made.PATHS), output, "verify")
    assert verdict_of(gather(output)).outcome is Outcome.SAME
    later = (output / ".mindferry" / "verify.json").stat().st_mtime + 60
    os.utime(output / "net.py", (later, later))
    assert verdict_of(gather(output)).outcome is None
