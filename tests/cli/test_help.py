"""What the command line tells by itself: help with examples, completion, plain text in a pipe."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mindferry.cli import cli

NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x.view(-1)\n"


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mindferry", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def commands() -> Iterator[tuple[str, click.Command]]:
    """("rules show", …) of every command and of those inside a group."""
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", each) for inner, each in command.commands.items())


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_begins_with_a_sentence_and_holds_an_example(name: str) -> None:
    told = COMMANDS[name].help or ""
    lines = [line.strip() for line in told.splitlines()]
    assert lines[0].endswith((".", "gradient; or their data, batch by batch."))
    assert any(line.startswith(f"mindferry {name} ") or line == f"mindferry {name}" for line in lines)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_and_a_dozen_options_at_most_and_tells_what_they_do(name: str) -> None:
    command = COMMANDS[name]
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    if not isinstance(command, click.Group):
        assert any("--json" in each.opts for each in options) or name == "launch"
    assert len(options) <= 17 and [each.name for each in options if not each.help and each.name != "mode"] == []


def test_without_arguments_it_shows_what_there_is_in_the_order_of_use() -> None:
    shown = run()
    assert (
        shown.returncode == 2
        and "mindferry migrate" in shown.stderr
        and "..." not in shown.stderr.split("Commands:")[1]
    )
    places = [
        shown.stderr.index(f"\n  {name} ") for name in ("migrate", "analyze", "convert", "verify", "report", "env")
    ]
    assert places == sorted(places)


def test_a_slip_of_the_pen_is_answered_with_the_nearest_command() -> None:
    shown = run("convrt")
    assert shown.returncode == 2 and "No such command 'convrt'; did you mean convert?" in shown.stderr


COMPLETE = """
source {script}
COMP_WORDS=({words})
COMP_CWORD={at}
_mindferry_completion mindferry
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("re", {"report", "record"}),
        ("rules sh", {"show"}),
        ("report --form", {"--format"}),
        ("report --format m", {"markdown"}),
    ],
)
def test_completion_in_bash(words: str, found: set[str], tmp_path: Path) -> None:
    folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    source = subprocess.run(
        ["mindferry"], env={**environment, "_MINDFERRY_COMPLETE": "bash_source"}, capture_output=True, text=True
    )
    (tmp_path / "completion.sh").write_text(source.stdout)
    typed = ["mindferry", *words.split()]
    script = COMPLETE.format(script=tmp_path / "completion.sh", words=" ".join(typed), at=len(typed) - 1)
    shown = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
    assert set(shown.stdout.split()) == found, shown


@pytest.mark.parametrize(
    ("shell", "word"), [("zsh", "#compdef mindferry"), ("fish", "complete --no-files --command mindferry")]
)
def test_completion_for_other_shells(shell: str, word: str) -> None:
    folder = Path(sys.executable).parent
    shown = subprocess.run(
        [folder / "mindferry"],
        env={**os.environ, "_MINDFERRY_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
    )
    assert shown.returncode == 0 and word in shown.stdout


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("project")
    (folder / "p").mkdir()
    (folder / "p/net.py").write_text(NET)
    return folder, run("migrate", folder / "p", "-o", folder / "out")


def test_a_pipe_gets_neither_colours_nor_bars(migrated: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, migration = migrated
    shown = [
        migration,
        run("analyze", folder / "p"),
        run("convert", folder / "p", "--check", "--diff"),
        run("rules", "list", "torch.nn.functional.r"),
    ]
    for each in shown:
        assert each.returncode == 0 and each.stderr == "" and each.stdout.strip()
        assert "\x1b" not in each.stdout and "━" not in each.stdout


def test_analyze_counts_what_becomes_of_every_place_in_its_result(
    migrated: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, _ = migrated
    told = json.loads(run("analyze", folder / "p", "--json").stdout)["effort"]["ledger"]
    assert re.fullmatch(r"(\d+) of \1 accounted: \d+ converted, \d+ dispatched, \d+ left, \d+ not torch's", told)
    assert told in " ".join(run("analyze", folder / "p").stdout.split())
    assert "accounted" not in run("analyze", folder / "p", "--quick").stdout


def test_the_last_lines_say_how_it_stands_and_where_to_look(
    migrated: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, migration = migrated
    assert migration.stdout.splitlines()[-2:] == [
        "Converted without a finding; not measured yet.",
        f"report: {folder}/out/mindferry-report.html",
    ]
    assert run("analyze", folder / "p").stdout.splitlines()[-1] == f"Next: mindferry migrate {folder}/p -o p_ms"
    assert (
        run("convert", folder / "p", "-o", folder / "again").stdout.splitlines()[-1]
        == f"converted project in {folder}/again"
    )
    (folder / "p/left.py").write_text("import torch\n\nx = torch.ops.aten.add(1)\n")
    assert run("convert", folder / "p", "--check").stdout.splitlines()[-1] == "1 file needs you: start with left.py"
    (folder / "p/left.py").unlink()


def test_migrate_shows_what_the_network_must_be_given(
    migrated: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    assert 'model = "net:Net"   #' in migrated[1].stdout
    (tmp_path / "p").mkdir()
    (tmp_path / "p/net.py").write_text(
        NET.replace(
            "    def forward",
            "    def __init__(self, width, depth=2, *, heads, mlp=4):\n        super().__init__()\n\n    def forward",
        )
    )
    assert (
        'model = "net:Net(width=…, heads=…)"   # write a value for each …'
        in run("migrate", tmp_path / "p", "-o", tmp_path / "out").stdout
    )


def test_a_stage_that_could_not_run_is_told_and_what_it_measured_before_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/net.py").write_text(NET)
    (tmp_path / "p/mindferry.toml").write_text('[weights]\nfile = "net.pth"\n')
    (tmp_path / "out/.mindferry").mkdir(parents=True)
    run("convert", tmp_path / "p", "-o", tmp_path / "out")
    old = tmp_path / "out/.mindferry/weights.json"
    old.write_text(
        json.dumps({"mindferry": 1, "kind": "WeightsReport", "source": "a.pth", "output": "a.ckpt", "entries": []})
    )
    done = run("migrate", tmp_path / "p", "-o", tmp_path / "out")
    assert done.returncode == 1 and not old.exists()
    *_, said, verdict, page = done.stdout.splitlines()
    assert (
        said
        == f"weights could not run: see [weights] and [verify] in {tmp_path}/p/mindferry.toml, then run the same command again."
    )
    assert verdict == "1 thing is left for you." and page == f"report: {tmp_path}/out/mindferry-report.html"
    told = json.loads(run("report", tmp_path / "out", "--json").stdout)["overview"]
    assert "weights could not run: there is no" in told["todo"][0]["what"]
