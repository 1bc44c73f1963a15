"""requirements.txt: torch's packages go, MindSpore comes."""

from __future__ import annotations

import re

GONE = {"torch", "torchvision", "torchaudio", "pytorch", "pytorch-cuda"}
NEEDED = ["mindspore==2.10.0", "numpy<2"]
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


def is_requirements(relative: str) -> bool:
    name = relative.rpartition("/")[2]
    return name.startswith("requirements") and name.endswith(".txt")


def rewrite_requirements(text: str) -> str:
    """Replace the first torch line by what the converted project needs, and drop the others."""
    lines, replaced = [], False
    for line in text.splitlines(keepends=True):
        match = _NAME.match(line)
        name = match.group(1).lower().replace("_", "-") if match else ""
        if name in GONE:
            if not replaced:
                ending = line[len(line.rstrip("\r\n")) :] or "\n"
                lines += [f"{package}{ending}" for package in NEEDED if package.split("<")[0] not in text or "numpy" not in package]
                replaced = True
            continue
        lines.append(re.sub(r"^(\s*numpy)\b[^#;\n]*", r"\1<2", line) if name == "numpy" else line)
    return "".join(lines)
