"""requirements.txt: torch's packages go, MindSpore comes."""

from __future__ import annotations

import re

GONE = {"torch", "torchvision", "torchaudio", "pytorch", "pytorch-cuda"}
NEEDED = ["mindspore==2.10.0", "numpy<2"]
_NAME = re.compile(r"\s*\"?([A-Za-z0-9][A-Za-z0-9._-]*)")
# A requirement may be a place instead of a name: an egg, a file, or one of PyTorch's own repositories.
_EGG = re.compile(r"\s*(?:(?:-e|--editable)[\s=]+)?[^\s#]+#(?:\S*&)?egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_FILE = re.compile(r"\s*[^\s#@]*/([A-Za-z0-9][A-Za-z0-9._]*)-\d[^/\s]*\.(?:whl|tar\.gz|zip)\b")
_REPOSITORY = re.compile(r"\s*(?:(?:-e|--editable)[\s=]+)?[^\s#]*github\.com[/:](pytorch)/(?:pytorch|vision|audio)\b")
_COMMENT = re.compile(r"(?:^|\s)(#.*)")
_INDEX = re.compile(r"\s*(--(extra-)?index-url|-i|--find-links|-f)\b.*download\.pytorch\.org")


def is_requirements(relative: str) -> bool:
    folder, _, name = relative.rpartition("/")
    return name.endswith(".txt") and (name.startswith("requirements") or folder.rpartition("/")[2] == "requirements")


def named(requirement: str) -> str:
    """The package that a requirement is for, as PyPI spells it."""
    ways = (_EGG, _FILE, _REPOSITORY, _NAME)
    match = next((found for way in ways if (found := way.match(requirement))), None)
    return match.group(1).lower().replace("_", "-") if match else ""


def uses_hashes(text: str) -> bool:
    """Whether pip will ask for a hash of every package: one that has none makes the file invalid."""
    return re.search(r"(?m)^[^#\n]*(?:^|\s)--(?:hash|require-hashes)\b", text) is not None


def rewrite_requirements(text: str) -> str:
    """Replace the first torch line by what the converted project needs, and drop the others; comments stay."""
    lines, replaced = [], False
    groups = _requirements(text)
    is_hashed = uses_hashes(text)
    has_numpy = any(named(group[0]) == "numpy" for group in groups)
    for group in groups:
        first = group[0]
        ending = first[len(first.rstrip("\r\n")) :] or "\n"
        if named(first) in GONE or _INDEX.match(first):
            lines += [f"{found.group(1)}{ending}" for line in group if (found := _COMMENT.search(line.rstrip("\r\n")))]
            if not replaced and not _INDEX.match(first):
                needed = [package for package in NEEDED if not (has_numpy and package.startswith("numpy"))]
                lines += [
                    f"# with its hash: {package}{ending}" if is_hashed else package + ending for package in needed
                ]
                replaced = True
        elif named(first) == "numpy" and not is_hashed:
            lines.append(_with_older_numpy("".join(_unbroken(line) for line in group[:-1]) + group[-1]))
        else:
            lines += group
    return "".join(lines)


def _requirements(text: str) -> list[list[str]]:
    """The lines of each requirement: one that ends in a backslash goes on in the next, unless it is a comment."""
    groups: list[list[str]] = []
    goes_on = False
    for line in text.splitlines(keepends=True):
        if goes_on:
            groups[-1].append(line)
        else:
            groups.append([line])
        goes_on = line.rstrip("\r\n").endswith("\\") and not line.lstrip().startswith("#")
    return groups


def _unbroken(line: str) -> str:
    return line.rstrip("\r\n").removesuffix("\\").rstrip() + " "


def _with_older_numpy(line: str) -> str:
    found = re.match(r"(\s*numpy)\b([^#;\r\n]*)", line)
    if found is None:  # quoted, or spelled otherwise
        return line
    asked = found.group(2)
    return found.group(1) + "<2" + asked[len(asked.rstrip()) :] + line[found.end() :]
