"""A project's source in a folder of its own: a package from pip, or a commit from a folder of clones."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from .listed import Project


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
        _install([project.package], home / "source")
    else:
        _check_out(project, home / "source", clones)
    if project.needs:
        _install(list(project.needs), home / "needs")
    (home / ".whole").touch()
    return home / "source"


def needs(project: Project, folder: Path) -> list[str]:
    """What goes onto the path beside the project itself."""
    home = folder / project.name / "needs"
    return [str(home.resolve())] if home.is_dir() else []


def _install(wanted: list[str], target: Path) -> None:
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
    archive = subprocess.run(["git", f"--git-dir={git}", "archive", project.commit or "HEAD"], capture_output=True)
    if archive.returncode:
        raise NotHad(f"{git} does not have commit {project.commit}")
    subprocess.run(["tar", "-x", "-C", str(target)], input=archive.stdout, check=True)
