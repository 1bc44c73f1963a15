"""A second `migrate` measures again whatever was changed since the first one, however carefully that was hidden."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.artifacts import STATE, Comparison, Curves, Step, save
from mindferry.cli.migrate import _exit_code, _lines, command
from mindferry.config import Config
from mindferry.migrate import Command, Migration, Outcome, _with_command, migrate
from mindferry.observation import CommandRun, Observation
from mindferry.report.gather import Found
from mindferry.report.verdict import Verdict, not_compared
from mindferry.resume import converted_code, made


@pytest.fixture
def migrated(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "net.py").write_text("import torch\n\nx = torch.ones(2)\n")
    migrate(tmp_path / "in", tmp_path / "out", lambda outcome: None)
    return tmp_path / "in", tmp_path / "out"


def fresh(source: Path, output: Path) -> set[str]:
    outcomes: list[Outcome] = []
    migrate(source, output, outcomes.append)
    return {outcome.stage for outcome in outcomes if outcome.is_fresh}


def test_what_did_not_change_is_not_done_again(migrated: tuple[Path, Path]) -> None:
    assert fresh(*migrated) == set()


def test_a_source_that_was_edited_under_its_old_date_is_converted_again(migrated: tuple[Path, Path]) -> None:
    path = migrated[0] / "net.py"
    before = path.stat()
    path.write_text(path.read_text().replace("ones", "rand"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert fresh(*migrated) == {"analyze", "convert"} and "ones" not in (migrated[1] / "net.py").read_text()


def test_a_record_that_was_edited_is_made_again(migrated: tuple[Path, Path]) -> None:
    path = migrated[1] / STATE / "analyze.json"
    path.write_text(path.read_text().replace("torch.ones", "torch.tens"))
    assert "analyze" in fresh(*migrated) and "torch.ones" in path.read_text()


def test_an_edited_conversion_or_observation_has_another_digest(migrated: tuple[Path, Path], tmp_path: Path) -> None:
    """The measuring stages ask for these before they say that an earlier run did their work."""
    output, archive = migrated[1], tmp_path / "seen.zip"
    archive.write_bytes(b"seen")
    before = converted_code(output), made(output, "observe", archive)
    (output / "net.py").write_text("x = 2\n")
    archive.write_bytes(b"sewn")
    assert before[0] != converted_code(output) and before[1] != made(output, "observe", archive)


def test_the_exit_code_and_the_words_say_how_much_was_compared() -> None:
    stages = [Outcome("verify", True, "", 0.0, True, is_partial=True)]
    same = Verdict("same", Comparison("", "", (), None, True).outcome, "The conversion behaves like the original.", "")
    assert _exit_code(same, stages) == 0
    nothing = Verdict("unmeasured", None, "no number was compared.", "", ("It ran.",), ("training",))
    assert _exit_code(nothing, stages) == 4 and _exit_code(nothing, []) == 0  # nobody asked
    assert _lines(nothing, False) == ["Not compared:", "  training", "no number was compared."]
    assert _exit_code(same, [Outcome("train", False, "", 0.0, True)]) == 1


def test_json_has_the_outcome_and_what_was_not_compared(migrated: tuple[Path, Path]) -> None:
    import json

    source, output = migrated
    done = CliRunner().invoke(command, [str(source), "-o", str(output), "--json"])
    told = json.loads(done.stdout)
    assert told["outcome"] == "not compared" and told["not_compared"] == [] and len(told["stages"]) == 2
    save(Comparison("net:x", "", (), None, True), output, "verify")
    assert json.loads(CliRunner().invoke(command, [str(source), "-o", str(output), "--json"]).stdout)["compared"] == []


def test_of_several_commands_the_first_that_trains_is_replayed(tmp_path: Path) -> None:
    words = ("python", "make.py", "&&", "python", "train.py", "-x")
    first, trained = CommandRun(words[:2], "itself", 1.0), CommandRun(words[3:], "itself", 1.0, (0.5,))
    state = Migration(tmp_path, tmp_path / "out", Config(), command=Command(words))
    one, both = (Observation("", (each, trained), ()) for each in (first, replace(first, losses=(0.7,))))
    chosen = [_with_command(state, seen, 5).train for seen in (one, both)]
    assert [(each.script, each.args, each.steps) for each in chosen] == [("train.py", ("-x",), 5), ("make.py", (), 5)]
    nothing = Found(Path(), None, None, None, None, None, None, None, None, None, {}, None, {})
    found = replace(nothing, observe=Observation("", (first, trained), ()))
    assert any("`python train.py -x` needs what other commands write" in each for each in not_compared(found))
    found = replace(nothing, observe=both, train=Curves((Step(0.5, 0.1, 1.0),), (), 1e-3, 0.0, True))
    assert any("training of `python train.py -x`" in each for each in not_compared(found))


EPISODE = """import torch
from torch import nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
kept = []


def act(x):
    kept.append(net(x))


def finish():
    opt.zero_grad()
    loss = torch.cat(kept).sum()
    loss.backward()
    opt.step()
"""


def test_a_step_that_cannot_be_lifted_runs_along_recorded_graphs_if_asked(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "play.py").write_text(EPISODE)
    words = [str(tmp_path / "in"), "-o", str(tmp_path / "out")]
    told = CliRunner().invoke(command, words)
    assert told.exit_code == 1 and "play.py:16: MF201" in told.output and "migrate with --record-graphs" in told.output
    again = CliRunner().invoke(command, [*words, "--record-graphs"])
    assert again.exit_code == 0 and "MF201" not in again.output, again.output
    assert "record_graphs()" in (tmp_path / "out" / "play.py").read_text()
