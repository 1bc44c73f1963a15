"""A project's source in a folder of its own: a package from pip, or a commit from a folder of clones."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from .listed import Project

TEXT = (".py", ".toml", ".cfg", ".ipynb", "requirements.txt")


class NotHad(Exception):
    """The project can't be had here; the sentence says why."""


def obtain(project: Project, folder: Path, clones: Path | None) -> Path:
    """The folder that holds its source; made once, kept from run to run."""
    home = folder / project.name
    if (home / ".whole").exists():
        return home / "source"
    shutil.rmtree(home, ignore_errors=True)
    (home / "source").mkdir(parents=True)
    if project.package:
        install([project.package], home / "source")
    else:
        _check_out(project, home / "source", clones)
    if project.needs:
        install(list(project.needs), home / "needs")
    (home / ".whole").touch()
    return home / "source"


def needs(project: Project, folder: Path) -> list[str]:
    """What goes onto the path beside the project itself."""
    home = folder / project.name / "needs"
    return [str(home.resolve())] if home.is_dir() else []


def install(wanted: list[str], target: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", str(target)]
    done = subprocess.run([*command, *wanted], capture_output=True, text=True)
    if done.returncode:
        raise NotHad(f"pip could not install {' '.join(wanted)}: {done.stderr.strip().splitlines()[-1:]}")


def _check_out(project: Project, target: Path, clones: Path | None) -> None:
    places = (
        [] if clones is None else [clones / project.repository.replace("/", "+") / "repo", clones / project.repository]
    )
    git = next((each for place in places for each in (place / ".git", place) if (each / "HEAD").exists()), None)
    if git is None:
        raise NotHad(f"no clone of {project.repository}; give its folder with --clones")
    command = ["git", f"--git-dir={git}", "archive", project.commit or "HEAD"]
    archive = subprocess.run(command, capture_output=True)
    if archive.returncode == 0:
        subprocess.run(["tar", "-x", "-C", str(target)], input=archive.stdout, check=True)
    elif not _copy_text(git, project.commit or "HEAD", target):
        raise NotHad(f"{git} does not have commit {project.commit}")


def _copy_text(git: Path, commit: str, target: Path) -> bool:
    """A snapshot may lack its largest files, and then can't be archived: its code is written file by file."""
    run = ["git", f"--git-dir={git}"]
    listed = subprocess.run([*run, "ls-tree", "-r", "-z", "--name-only", commit], capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name.endswith(TEXT)]
    for name in names:
        shown = subprocess.run([*run, "show", f"{commit}:{name}"], capture_output=True)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(shown.stdout)
    return bool(names)
