"""Shell scripts that start torch's launchers: `torchrun --nproc_per_node=2 train.py` becomes msrun's line; what does not is a finding."""

from __future__ import annotations

import re

from .. import findings
from ..apis import framework
from ..artifacts import Finding, Rewrite
from ..layout import ProjectFile
from .names_in_text import RenamedText

SUFFIXES = frozenset(".sh .bash .zsh .slurm .sbatch .pbs .mk".split())
NAMES = frozenset({"Makefile", "makefile", "GNUmakefile"})
GAP = r"(?:[ \t]|\\\r?\n)+"  # a line may go on behind a backslash
_LAUNCHER = re.compile(
    rf"(?<![\w./-])(?:torchrun|(?:python[\d.]*|\$\{{?PYTHON\}}?|\$\(PYTHON\)){GAP}-m{GAP}torch\.distributed\.(?:launch|run))(?![\w.-])"
)
_OTHER = re.compile(rf"(?<![\w./-])(?:accelerate{GAP}launch|deepspeed|horovodrun)(?![\w.-])")
_OPTION = re.compile(rf"{GAP}(--?[\w-]+)(?:=|{GAP})?")
_VALUE = re.compile(r"(?:\"[^\"\n]*\"|'[^'\n]*'|\$\([^)\n]*\)|[^\s\\;&|])+")
FLAGS = frozenset({"standalone", "use_env", "no_python"})
NUMBERS = frozenset({"nproc_per_node", "nnodes"})
KEPT = frozenset({"master_addr", "master_port", "node_rank"})
LOGS = "--log_dir=msrun_log --join=True"
ADVICE = "start the script with msrun, or by `mindferry launch`"


def is_shell(file: ProjectFile) -> bool:
    return file.path.suffix in SUFFIXES or file.path.name in NAMES


def with_launchers(path: str, text: str) -> RenamedText:
    """The script with msrun in the place of torch's launchers."""
    pieces, last = [], 0
    rewrites: list[Rewrite] = []
    found: list[Finding] = []
    for match in _LAUNCHER.finditer(text):
        if match.start() < last or _is_comment(text, match.start()):
            continue
        line, column = _position(text, match.start())
        made = _launched(text, match.end())
        if made is None:
            found.append(_finding(path, line, column, match[0].split()[-1]))
            continue
        command, end = made
        pieces += [text[last : match.start()], command]
        last = end
        rewrites.append(Rewrite(line, column, framework().name, text[match.start() : end], command))
    for match in _OTHER.finditer(text):
        if not _is_comment(text, match.start()):
            found.append(_finding(path, *_position(text, match.start()), match[0]))
    return RenamedText("".join((*pieces, text[last:])), frozenset(), tuple(rewrites), tuple(found))


def _launched(text: str, place: int) -> tuple[str, int] | None:
    """(msrun with its options, where the script's name begins to follow); None where an option has no counterpart."""
    given: dict[str, str] = {}
    while (option := _OPTION.match(text, place)) is not None:
        name = option[1].lstrip("-").replace("-", "_")
        if name in FLAGS - {"no_python"}:
            place = option.start() + len(option[0].rstrip(" \t\r\n\\="))
            continue
        value = _VALUE.match(text, option.end())
        if name not in NUMBERS | KEPT or value is None:
            return None
        given[name], place = value[0], value.end()
    count, nodes = given.get("nproc_per_node", "1"), given.get("nnodes", "1")
    if ":" in nodes or not all(
        re.fullmatch(r"\d+|\$\w+|\$\{\w+\}|\"\$\w+\"|\"\$\{\w+\}\"", each) for each in (count, nodes)
    ):
        return None
    total = count if nodes == "1" else f"$(({_bare(count)} * {_bare(nodes)}))"
    options = [f"--{name}={given[name]}" for name in ("master_addr", "master_port", "node_rank") if name in given]
    return " ".join(("msrun", f"--worker_num={total}", f"--local_worker_num={count}", *options, LOGS)), place


def _bare(number: str) -> str:
    return number.strip('"${}')


def _is_comment(text: str, place: int) -> bool:
    return re.search(r"(?:^|\s)#", text[text.rfind("\n", 0, place) + 1 : place]) is not None


def _position(text: str, place: int) -> tuple[int, int]:
    return text.count("\n", 0, place) + 1, place - (text.rfind("\n", 0, place) + 1) + 1


def _finding(path: str, line: int, column: int, name: str) -> Finding:
    message = f"{name} starts processes of torch's here, and how was not carried over"
    return Finding(findings.MF909, findings.MF909.severity, path, line, column, message, ADVICE, framework().name)
