"""requirements.txt: torch's packages go, MindSpore comes."""

from __future__ import annotations

import re

GONE = {"torch", "torchvision", "torchaudio", "pytorch", "pytorch-cuda"}
NEEDED = ["mindspore==2.10.0", "numpy<2"]
_NAME = re.compile(r"\s*\"?([A-Za-z0-9][A-Za-z0-9._-]*)")
_COMMENT = re.compile(r"(?:^|\s)(#.*)")
_INDEX = re.compile(r"\s*(--(extra-)?index-url|-i|--find-links|-f)\b.*download\.pytorch\.org")


def is_requirements(relative: str) -> bool:
    folder, _, name = relative.rpartition("/")
    return name.endswith(".txt") and (name.startswith("requirements") or folder.rpartition("/")[2] == "requirements")


def named(requirement: str) -> str:
    """The package that a requirement is for, as PyPI spells it."""
    match = _NAME.match(requirement)
    return match.group(1).lower().replace("_", "-") if match else ""


def rewrite_requirements(text: str) -> str:
    """Replace the first torch line by what the converted project needs, and drop the others; comments stay."""
    lines, replaced = [], False
    has_numpy = any(named(line) == "numpy" for line in text.splitlines())
    for line in text.splitlines(keepends=True):
        ending = line[len(line.rstrip("\r\n")) :] or "\n"
        comment = _COMMENT.search(line.rstrip("\r\n"))
        if named(line) in GONE or _INDEX.match(line):
            lines += [f"{comment.group(1)}{ending}"] if comment else []
            if not replaced and not _INDEX.match(line):
                lines += [f"{package}{ending}" for package in NEEDED if not (has_numpy and package.startswith("numpy"))]
                replaced = True
            continue
        lines.append(
            re.sub(r"^(\s*numpy)\b[^#;\r\n]*?(?=\s*(?:[#;]|[\r\n]*$))", r"\1<2", line)
            if named(line) == "numpy"
            else line
        )
    return "".join(lines)
