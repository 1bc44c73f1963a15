"""Which files of a project can be imported: in torch as they are, and in MindSpore, with no torch in reach, once converted."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mindferry.frameworks.process import settings

LIMIT = 60  # seconds for one project's next module


@dataclass(frozen=True, slots=True)
class Imported:
    file: str
    error: str  # "" if it went well
    place: str  # file:line of the project where it went wrong


def importable_files(root: Path) -> list[str]:
    """Files that define and don't run: a script is for the script stage."""
    found = []
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root)
        if any(part.startswith((".", "test")) or part == "setup.py" for part in relative.parts):
            continue
        if not all(part.isidentifier() for part in relative.with_suffix("").parts[-1:]):
            continue
        if _only_defines(path):
            found.append(str(relative))
    return found


def _only_defines(path: Path) -> bool:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return False
    for node in tree.body:
        if isinstance(node, ast.For | ast.While | ast.With | ast.Delete):
            return False
        if isinstance(node, ast.Assign | ast.Expr) and any(
            isinstance(each, ast.Call) and getattr(each.func, "attr", "") in ("parse_args", "backward", "cuda", "step")
            for each in ast.walk(node)
        ):
            return False
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            return False
    return True


def import_all(framework: str, root: Path, files: list[str], paths: list[str]) -> dict[str, Imported]:
    """Each file's fate; a file that crashes or hangs the process is told so, and the others go on."""
    left, found = list(files), {}
    while left:
        records = _run(framework, root, left, paths)
        began = [record["file"] for record in records if record.get("began")]
        ended = {record["file"]: record for record in records if "error" in record}
        for file, record in ended.items():
            found[file] = Imported(file, record["error"], record["place"])
        stuck = [file for file in began if file not in ended] or ([left[0]] if not ended else [])
        for file in stuck:
            found[file] = Imported(file, "crashed or hung while it was imported", "")
        left = [file for file in left if file not in found]
    return found


def _run(framework: str, root: Path, files: list[str], paths: list[str]) -> list[dict[str, str]]:
    script = str(Path(__file__).with_name("importing.py"))
    environment = {**os.environ, **settings(framework), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([*paths, environment.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(
            [sys.executable, "-P", script, framework, str(root.resolve())],
            stdin=subprocess.PIPE,
            stdout=told,
            stderr=subprocess.DEVNULL,
            cwd=scratch,
            env=environment,
            text=True,
        )
        try:
            process.communicate("\n".join(files) + "\n", timeout=LIMIT + 2 * len(files))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        told.seek(0)
        return [json.loads(line) for line in told if line.startswith("{")]
