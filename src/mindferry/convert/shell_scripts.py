"""Shell scripts that start torch's launchers: `torchrun --nproc_per_node=2 train.py` becomes msrun's line; what does not is a finding."""

from __future__ import annotations

import re

from .. import findings
from ..apis import framework
from ..artifacts import Finding, Rewrite
from ..layout import ProjectFile
from .plain_texts import ChangedText, Places

SUFFIXES = frozenset(".sh .bash .zsh .slurm .sbatch .pbs .mk".split())
NAMES = frozenset({"Makefile", "makefile", "GNUmakefile"})
GAP = r"(?:[ \t]|\\\r?\n)+"  # a line may go on behind a backslash
_LAUNCHER = re.compile(
    rf"(?<![\w./-])(?:torchrun|(?:python[\d.]*|\$\{{?PYTHON\}}?|\$\(PYTHON\)){GAP}-m{GAP}torch\.distributed\.(?:launch|run))(?![\w.-])"
)
_OTHER = re.compile(rf"(?<![\w./-])(?:accelerate{GAP}launch|deepspeed|horovodrun)(?![\w.-])")
_OPTION = re.compile(rf"{GAP}(--?[\w-]+)(?:=|{GAP})?")
_VALUE = re.compile(r"(?:\"[^\"\n]*\"|'[^'\n]*'|\$\([^)\n]*\)|[^\s\\;&|])+")
FLAGS = frozenset({"standalone", "use_env"})
NUMBERS = frozenset({"nproc_per_node", "nnodes"})
KEPT = frozenset({"master_addr", "master_port", "node_rank"})
LOGS = "--log_dir=msrun_log --join=True"
ADVICE = "start the script with msrun, or by `mindferry launch`"


def is_shell(file: ProjectFile) -> bool:
    return file.path.suffix in SUFFIXES or file.path.name in NAMES


def with_launchers(path: str, text: str) -> ChangedText:
    """The script with msrun in the place of torch's launchers."""
    places, pieces, last = Places(text, "#"), [], 0
    rewrites: list[Rewrite] = []
    found: list[Finding] = []
    for match in _LAUNCHER.finditer(text):
        if match.start() < last or places.is_in_comment(match.start()):
            continue
        line, column = places.position(match.start())
        made = _launched(text, match.end())
        if made is None:
            found.append(_finding(path, line, column, match[0].split()[-1]))
            continue
        command, end = made
        pieces += [text[last : match.start()], command]
        last = end
        rewrites.append(Rewrite(line, column, framework().name, text[match.start() : end], command))
    for match in _OTHER.finditer(text):
        if not places.is_in_comment(match.start()):
            found.append(_finding(path, *places.position(match.start()), match[0]))
    return ChangedText("".join((*pieces, text[last:])), frozenset(), tuple(rewrites), tuple(found))


def launcher_in(command: str) -> str:
    """The launcher that a command starts; '' for another program."""
    found = _LAUNCHER.search(command) or _OTHER.search(command)
    return " ".join(found[0].split()) if found is not None else ""


def _launched(text: str, place: int) -> tuple[str, int] | None:
    """(msrun with its options, where the script's name begins to follow); None where an option has no counterpart."""
    given: dict[str, str] = {}
    while (option := _OPTION.match(text, place)) is not None:
        name = option[1].lstrip("-").replace("-", "_")
        if name in FLAGS:
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


def _finding(path: str, line: int, column: int, name: str) -> Finding:
    message = f"{name} starts processes of torch's here, and how was not carried over"
    return Finding(findings.MF909, findings.MF909.severity, path, line, column, message, ADVICE, framework().name)
