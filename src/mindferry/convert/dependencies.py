"""Lists of dependencies: torch's packages go, MindSpore comes, comments stay.

requirements*.txt, pyproject.toml (PEP 621, dependency groups, Poetry), setup.cfg, and conda's environment.yml.
"""

from __future__ import annotations

import re
import tomllib

from .requirements import GONE, NEEDED, is_requirements, named, rewrite_requirements, uses_hashes

CONDA_ONLY = {"pytorch", "pytorch-cuda", "pytorch-mutex", "cpuonly", "cudatoolkit", "cuda-toolkit"}
_TABLE = re.compile(r"[ \t]*\[\[?([^\]]+)\]")
_STRING = re.compile(r"(\"[^\"\n]*\"|'[^'\n]*')([ \t]*,)?")
_LISTS = re.compile(
    r"project|project\.optional-dependencies|dependency-groups|build-system|tool\.uv|tool\.pdm\.dev-dependencies|tool\.hatch\.envs\..*"
)
_LIST_KEYS = {"project": "dependencies", "build-system": "requires"}  # elsewhere in these tables a string is a string
_POETRY = re.compile(r"tool\.poetry\.(?:dev-)?dependencies|tool\.poetry\.group\.[^.]+\.dependencies")


def rewrite_dependencies(relative: str, raw: bytes) -> tuple[bytes, str]:
    """(the file's new bytes, why nothing was done although torch is in there, or '')."""
    name = relative.rpartition("/")[2]
    if is_requirements(relative):
        change = rewrite_requirements
    elif name == "pyproject.toml":
        change = rewrite_pyproject
    elif name == "setup.cfg":
        change = rewrite_setup_cfg
    elif re.fullmatch(r"(environment|conda|env)[\w.-]*\.ya?ml", name):
        change = rewrite_environment
    else:
        return raw, ""
    text = raw.decode("utf-8", "surrogateescape")
    new = change(text)
    if name == "pyproject.toml" and new != text:
        try:
            tomllib.loads(new)
        except (ValueError, RecursionError):
            return raw, "its dependencies name torch in a way that was not understood, so it was copied as it is"
    if new != text and is_requirements(relative) and uses_hashes(text):
        return new.encode("utf-8", "surrogateescape"), "it asks for hashes, which mindspore's line needs too"
    return new.encode("utf-8", "surrogateescape"), ""


def rewrite_pyproject(text: str) -> str:
    lines: list[str] = []
    table, key, has_mindspore = "", "", False
    needed = _missing(text)
    for line in text.splitlines(keepends=True):
        if header := _TABLE.match(line):
            table, has_mindspore = header.group(1).strip().replace('"', ""), False
        if _POETRY.fullmatch(table) and named(line.partition("=")[0]) in GONE:
            ending = line[len(line.rstrip("\r\n")) :]
            lines += [f"{_key(package)}{ending}" for package in needed] if not has_mindspore else []
            lines += _comment(line)
            has_mindspore = True
        elif _LISTS.fullmatch(table) and not header:
            if assigned := re.match(r"\s*([\w.\"-]+)\s*=", line):
                key, has_mindspore = assigned.group(1), False
            is_list = key == _LIST_KEYS.get(table, key)
            kept, has_mindspore = _in_list(line, needed, has_mindspore) if is_list else ([line], has_mindspore)
            lines += kept
        else:
            lines.append(line)
    return "".join(lines)


def _key(package: str) -> str:
    name, operator, version = re.split(r"(==|<)", package)
    return f'{name} = "{version if operator == "==" else operator + version}"'


def _in_list(line: str, needed: list[str], has_mindspore: bool) -> tuple[list[str], bool]:
    """A line of an array of requirements, with torch's replaced the first time and removed after that."""
    code, comment = _without_comment(line)

    def change(match: re.Match[str]) -> str:
        nonlocal has_mindspore
        quote = match.group(1)[0]
        if named(match.group(1)[1:-1]) == "numpy":
            return f"{quote}numpy<2{quote}{match.group(2) or ''}"
        if named(match.group(1)[1:-1]) not in GONE or not re.match(
            r"[\w-]+(\[.*\])?\s*([<>=!~;@(].*)?$", match.group(1)[1:-1]
        ):
            return match.group()
        if has_mindspore:
            return ""
        has_mindspore = True
        return ", ".join(f"{quote}{package}{quote}" for package in needed) + (match.group(2) or "")

    start = code.find("=") + 1 if re.match(r"\s*[\w.\"-]+\s*=", code) else 0
    if start and not code[start:].lstrip().startswith("["):
        return [line], has_mindspore
    new = code[:start] + _STRING.sub(change, code[start:])
    if new == code:
        return [line], has_mindspore
    new = re.sub(r",\s*\]", "]", new) if not re.search(r",\s*\]", code) else new
    new = re.sub(r"(?<![ \t])[ \t]{2,}(?=\S)", " ", new) if code[:start] else new
    if not new.strip():
        return _comment(line), has_mindspore
    ending = line[len(line.rstrip("\r\n")) :]
    return [new.rstrip() + (f"  {comment}" if comment else "") + ending], has_mindspore


def rewrite_setup_cfg(text: str) -> str:
    """Indented requirements under install_requires and extras; comments and other sections stay."""
    lines: list[str] = []
    block: list[str] = []
    section, inside = "", False
    for line in [*text.splitlines(keepends=True), ""]:
        if inside and line[:1] in (" ", "\t"):
            block.append(line)
            continue
        lines += _rewritten_block(block)
        block = []
        if line.startswith("["):
            section = line.strip()
        is_extra = section == "[options.extras_require]" and "=" in line
        inside = is_extra or re.match(r"(install_requires|setup_requires|tests_require)\s*=", line) is not None
        lines.append(line)
    return "".join(lines)


def _rewritten_block(block: list[str]) -> list[str]:
    if not block:
        return []
    indent = block[0][: len(block[0]) - len(block[0].lstrip())]
    plain = rewrite_requirements("".join(line.lstrip(" \t") for line in block))
    return [indent + line if line.strip() else line for line in plain.splitlines(keepends=True)]


def rewrite_environment(text: str) -> str:
    """conda has no MindSpore: it goes into the pip list, which is added if there is none."""
    lines: list[str] = []
    section, is_needed, last, pip_at, item = "", False, 0, 0, ""
    for line in text.splitlines(keepends=True):
        if key := re.match(r"(\w+):", line):
            section = key.group(1)
        entry = re.match(r"(\s*-\s+)(?:[\w.-]+::)?([\w.-]+)", line)
        if entry and section in ("dependencies", "channels"):
            name = entry.group(2).lower().replace("_", "-")
            if (section == "channels" and name in ("pytorch", "nvidia", "pytorch-nightly")) or (
                section == "dependencies" and (name in GONE or name in CONDA_ONLY)
            ):
                is_needed |= section == "dependencies"
                lines += _comment(line)
                continue
        lines.append(
            re.sub(r"^(\s*-\s+numpy)(?=[ \t]*(?:#|[\r\n]|$))", r"\1<2", line) if section == "dependencies" else line
        )
        if section == "dependencies" and line.strip():
            last = len(lines)
            item = item or (entry.group(1) if entry else "")
            if entry and entry.group(2) == "pip" and line.rstrip().endswith("pip:"):
                pip_at = len(lines)
    if not is_needed:
        return text
    item = item or "  - "
    ending = "\r\n" if "\r\n" in text else "\n"
    inner = " " * (len(item) - 2) + "  - "
    wanted = [f"{inner}{package}{ending}" for package in _missing(text)]
    at = pip_at or last
    if lines and at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += ending
    lines[at:at] = wanted if pip_at else [f"{item}pip{ending}", f"{item}pip:{ending}", *wanted]
    return "".join(lines)


def _missing(text: str) -> list[str]:
    """What the converted project needs, without numpy where the file names it already."""
    has_numpy = re.search(r"(?m)^[^#\n]*\bnumpy\b", text) is not None
    return [package for package in NEEDED if not (has_numpy and package.startswith("numpy"))]


def _without_comment(line: str) -> tuple[str, str]:
    quote = ""
    for index, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "#":
            return line[:index], line[index:].rstrip()
    return line, ""


def _comment(line: str) -> list[str]:
    """The comment of a line that goes, as a line of its own."""
    code, comment = _without_comment(line)
    indent = code[: len(code) - len(code.lstrip())]
    return [indent + comment + line[len(line.rstrip("\r\n")) :]] if comment else []
