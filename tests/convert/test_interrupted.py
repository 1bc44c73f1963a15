"""Interrupted, forged, linked and shared outputs: nothing is lost, and nothing outside the output is touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.artifacts import ProjectConversion, load
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.files import alone_in, complete_or_absent, remove, remove_abandoned
from mindferry.migrate import migrate

INTERRUPT = Path(__file__).parents[2] / "fuzz" / "interrupt.py"
NET = "import torch\n\nx = torch.ones(2).view(-1)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "net.py").write_text(NET)
    (tmp_path / "in" / "other.py").write_text(NET)
    return tmp_path / "in"


def test_the_next_run_finishes_what_was_interrupted_wherever_that_was(tmp_path):
    command = [sys.executable, str(INTERRUPT), "--tries", "16", "--seed", "7", "--keep", str(tmp_path / "kept")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def forge(output: Path, change) -> None:
    path = output / ".mindferry" / "convert.json"
    body = json.loads(path.read_text())
    change(body)
    path.write_text(json.dumps(body))


@pytest.mark.parametrize("name", ["../../victim.txt", "/{root}/victim.txt", "a/../../victim.txt", "", "."])
def test_a_forged_record_deletes_nothing_outside(name, project, tmp_path):
    convert_project(project, tmp_path / "o" / "out")
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    import hashlib

    digest = hashlib.sha256(b"precious").hexdigest()
    stray = {"path": name.replace("/{root}", str(tmp_path)), "status": "converted", "digest": digest}
    forge(tmp_path / "o" / "out", lambda body: body["files"].append(stray))
    with pytest.raises(MindferryError, match="forged"):
        convert_project(project, tmp_path / "o" / "out")
    assert victim.read_text() == "precious"
    with pytest.raises(MindferryError, match="forged"):
        load(ProjectConversion, tmp_path / "o" / "out", "convert")


def test_a_forged_plan_of_an_unfinished_run_is_refused(project, tmp_path):
    (tmp_path / "out" / ".mindferry").mkdir(parents=True)
    plan = {"mindferry": 1, "kind": "Unfinished", "source": str(project), "digests": {"../victim.txt": ["0"]}}
    (tmp_path / "out" / ".mindferry" / "unfinished.json").write_text(json.dumps(plan))
    with pytest.raises(MindferryError, match="outside"):
        convert_project(project, tmp_path / "out")


def test_a_folder_link_in_the_output_is_not_written_through(project, tmp_path):
    (project / "pkg").mkdir()
    (project / "pkg" / "net.py").write_text(NET)
    convert_project(project, tmp_path / "out")
    (tmp_path / "elsewhere").mkdir()
    for path in (tmp_path / "out" / "pkg").iterdir():
        path.unlink()
    (tmp_path / "out" / "pkg").rmdir()
    (tmp_path / "out" / "pkg").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MindferryError, match="is a link"):
        convert_project(project, tmp_path / "out")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_state_folder_that_is_a_link_is_not_written_through(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".mindferry").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MindferryError, match="is a link"):
        convert_project(project, tmp_path / "out")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_what_was_edited_in_an_unfinished_output_is_kept(project, tmp_path):
    convert_project(project, tmp_path / "out")
    state = tmp_path / "out" / ".mindferry"
    record = json.loads((state / "convert.json").read_text())
    digests = {each["path"]: [each["digest"]] for each in record["files"]}
    plan = {"mindferry": 1, "kind": "Unfinished", "source": record["source"], "digests": digests}
    (state / "unfinished.json").write_text(json.dumps(plan))
    (state / "convert.json").unlink()
    (tmp_path / "out" / "net.py").write_text("# mine\n")
    (tmp_path / "out" / "other.py").unlink()
    result = convert_project(project, tmp_path / "out")
    assert (tmp_path / "out" / "net.py").read_text() == "# mine\n"
    assert "mindspore" in (tmp_path / "out" / "other.py").read_text()
    assert [finding.code for finding in result.findings if finding.path == "net.py"][-1:] == ["MF903"]


def test_an_unfinished_output_of_another_project_is_refused(project, tmp_path):
    (tmp_path / "out" / ".mindferry").mkdir(parents=True)
    plan = {"mindferry": 1, "kind": "Unfinished", "source": "/another", "digests": {}}
    (tmp_path / "out" / ".mindferry" / "unfinished.json").write_text(json.dumps(plan))
    with pytest.raises(MindferryError, match="holds the conversion of /another"):
        convert_project(project, tmp_path / "out")


def test_a_second_run_at_the_same_time_waits_in_a_sentence(project, tmp_path):
    with (
        alone_in(tmp_path / "out" / ".mindferry", "out"),
        pytest.raises(MindferryError, match="another mindferry is writing"),
    ):
        convert_project(project, tmp_path / "out")
    convert_project(project, tmp_path / "out")


def test_partial_files_of_killed_runs_go_and_those_of_running_ones_stay(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f".a.ckpt.{dead.pid}-abc.part").write_bytes(bytes(100))
    (tmp_path / ".mine.part").write_bytes(b"not one of ours")
    with complete_or_absent(tmp_path / "b.ckpt") as partial:
        partial.write_bytes(b"b")
        remove_abandoned(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {".mine.part", partial.name}
    assert (tmp_path / "b.ckpt").read_bytes() == b"b"


def test_an_old_partial_file_goes_although_a_process_has_its_number_by_now(tmp_path):
    left = tmp_path / f".a.ckpt.{os.getpid()}-abc.part"
    left.write_bytes(bytes(100))
    os.utime(left, (0, 0))
    with complete_or_absent(tmp_path / "b.ckpt") as partial:
        os.utime(partial, (0, 0))  # it is locked: its age doesn't matter
        remove_abandoned(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {partial.name}


def test_migrate_removes_what_a_killed_run_left_of_a_record(project, tmp_path):
    migrate(project, tmp_path / "out", lambda outcome: None)
    left = tmp_path / "out" / ".mindferry" / f".weights.json.{os.getpid()}-abc.part"
    left.write_bytes(b"{")
    os.utime(left, (0, 0))
    migrate(project, tmp_path / "out", lambda outcome: None)
    assert not left.exists()


def test_migrate_finishes_a_second_conversion_that_stopped_before_its_record(project, tmp_path):
    migrate(project, tmp_path / "out", lambda outcome: None)
    plan = tmp_path / "out" / ".mindferry" / "unfinished.json"
    plan.write_text(json.dumps({"mindferry": 1, "kind": "Unfinished", "source": str(project), "digests": {}}))
    migrate(project, tmp_path / "out", lambda outcome: None)
    assert not plan.exists()


def test_a_record_that_can_not_be_removed_is_a_sentence(tmp_path):
    (tmp_path / "record.json").mkdir()
    with pytest.raises(MindferryError, match="cannot remove"):
        remove(tmp_path / "record.json")


def test_a_name_of_two_hundred_and_fifty_bytes_can_be_written(tmp_path):
    name = "漢" * 80 + ".py"
    with complete_or_absent(tmp_path / name) as partial:
        partial.write_bytes(b"x")
    assert os.listdir(tmp_path) == [name]


def test_names_that_are_no_utf_8_are_recorded_and_read_again(project, tmp_path):
    odd = os.fsdecode(b"caf\xe9.py")
    try:
        (project / odd).write_text(NET)
    except OSError:
        pytest.skip("this file system holds UTF-8 names only")
    convert_project(project, tmp_path / "out")
    assert odd in {each.path for each in load(ProjectConversion, tmp_path / "out", "convert").files}
    again = convert_project(project, tmp_path / "out")
    assert odd in again.reused and (tmp_path / "out" / odd).is_file()


def test_links_that_leave_the_project_are_noted_and_not_copied(project, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "shared.py").write_text(NET)
    (project / "notes.txt").symlink_to(tmp_path / "secret.txt")
    (project / "shared.py").symlink_to(tmp_path / "shared.py")
    (project / "zero.py").symlink_to("/dev/zero")
    (project / "inside.py").symlink_to("net.py")
    os.mkfifo(tmp_path / "pipe")
    (project / "pipe.py").symlink_to(tmp_path / "pipe")
    (project / "folder").symlink_to(tmp_path)
    result = convert_project(project, tmp_path / "out")
    assert {finding.path for finding in result.findings if finding.code == "MF902"} == {
        "notes.txt",
        "shared.py",
        "zero.py",
        "pipe.py",
        "folder",
    }
    assert {path.name for path in (tmp_path / "out").iterdir()} == {".mindferry", "net.py", "other.py", "inside.py"}


def test_analyze_does_not_wait_for_a_pipe_either(project, tmp_path):
    from mindferry.analyze.inventory import analyze_project

    os.mkfifo(project / "pipe.py")
    (project / "zero.ipynb").symlink_to("/dev/zero")
    assert analyze_project(project).apis


def test_a_folder_that_can_not_be_read_is_a_finding(project, tmp_path):
    (project / "locked").mkdir()
    (project / "locked" / "net.py").write_text(NET)
    (project / "locked").chmod(0)
    tmp_path.chmod(0o777)
    code = f"from mindferry.convert import convert_project as c; r = c({str(project)!r}, {str(tmp_path / 'out')!r}); print(*[f.code + f.path for f in r.findings])"
    user = {"user": "nobody"} if os.geteuid() == 0 else {}
    if user and not all(os.stat(each).st_mode & 0o001 for each in tmp_path.parents):
        pytest.skip("nobody can't reach the folder of this test")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **user)
    (project / "locked").chmod(0o755)
    assert "MF900locked" in done.stdout, done.stdout + done.stderr
