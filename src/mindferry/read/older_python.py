"""Text that was Python once: Python 2's statements and `async=`, put as Python 3 has them, line by line."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import Enum

_MOST = 200  # lines that are mended in one file: each costs a parse
_MOST_TEXT = 400_000
_HINT = re.compile(r"\b(?:async|print|except|raise)\b|\t")
_ASYNC = re.compile(r"\basync(?=\s*=[^=])")
_PRINT = re.compile(r"^(?P<head>.*?(?:^|[:;])\s*)print\b[ \t]*(?P<rest>.*)$", re.DOTALL)
_EXCEPT = re.compile(r"^(?P<head>\s*except\s+(?:[\w.]+|\([^()]*\)))\s*,\s*(?P<name>\w+)\s*:")
_RAISE = re.compile(r"^(?P<head>\s*raise\s+[\w.]+)\s*,\s*(?P<what>.+?)\s*$")
_COMMENT = re.compile(r"\s+#[^'\"]*$")


class Older(Enum):
    """What is older about a line: what it says of itself, and what its reader should do."""

    STATEMENT = (
        "written for Python 2; the conversion is Python 3",
        "look at the file's divisions: that of two integers gave an integer in Python 2",
    )
    ARGUMENT = (
        "`async` is a keyword since Python 3.7; it was read as non_blocking, torch's name for it since 0.4",
        "rename it in the original too, which does not run as it stands",
    )


@dataclass(frozen=True, slots=True)
class Mended:
    """A line that Python 3 does not take as it stands."""

    line: int
    what: Older


def as_python3(text: str) -> tuple[str, tuple[Mended, ...]] | None:
    """The text as Python 3, with as many lines as before; None where that is not enough to make it Python."""
    if len(text) > _MOST_TEXT or not _HINT.search(text):
        return None
    lines, mended = text.split("\n"), dict[int, Older]()
    for _ in range(_MOST):
        try:
            ast.parse("\n".join(lines))
        except (TabError, IndentationError) as error:
            if not _even_indents(lines):
                return None
            mended.setdefault(error.lineno or 1, Older.STATEMENT)
        except SyntaxError as error:
            found = _mend(lines, (error.lineno or 1) - 1)
            if found is None:
                return None
            mended[found[0] + 1] = found[1]
        except (ValueError, RecursionError, MemoryError):
            return None
        else:
            return "\n".join(lines), tuple(Mended(line, what) for line, what in sorted(mended.items()))
    return None


def _even_indents(lines: list[str]) -> bool:
    """Tabs reach to the next multiple of eight, as Python 2 counts them; False where there were none."""
    is_any = False
    for number, line in enumerate(lines):
        body = line.lstrip(" \t")
        indent = line[: len(line) - len(body)]
        if "\t" in indent:
            lines[number], is_any = indent.expandtabs(8) + body, True
    return is_any


def _mend(lines: list[str], at: int) -> tuple[int, Older] | None:
    """Mend the line that the parser stumbled on, or a little above it, where its statement begins."""
    for number in range(min(at, len(lines) - 1), max(at - 12, -1), -1):
        line = lines[number]
        if _ASYNC.search(line):
            lines[number] = _ASYNC.sub("non_blocking", line)
            return number, Older.ARGUMENT
        if (put := _except(line) or _raised(line)) is not None:
            lines[number] = put
            return number, Older.STATEMENT
        if (end := _printed(lines, number)) is not None:
            return end, Older.STATEMENT
    return None


def _except(line: str) -> str | None:
    found = _EXCEPT.match(line)
    return None if found is None else f"{found['head']} as {found['name']}:{line[found.end() :]}"


def _raised(line: str) -> str | None:
    found = _RAISE.match(line)
    return None if found is None else f"{found['head']}({found['what']})"


def _printed(lines: list[str], start: int) -> int | None:
    """Give a print statement its parentheses: the line where it begins, None where there is none that needs them."""
    found = _PRINT.match(lines[start])
    if found is None:
        return None
    for end in range(start, min(start + 12, len(lines))):
        rest = "\n".join([found["rest"], *lines[start + 1 : end + 1]])
        if (put := _called(rest)) is not None:
            lines[start : end + 1] = (found["head"] + put).split("\n")
            return start
    return None


def _called(rest: str) -> str | None:
    """`a, b,  # why` as `print(a, b, end=" ")  # why`, if what stands between the parentheses is Python."""
    for cut in (_COMMENT.search(rest), None):
        body = (rest if cut is None else rest[: cut.start()]).rstrip(" \t\r;")
        comment = "" if cut is None else rest[cut.start() :]
        ending = ""
        if body.endswith(","):
            body, ending = body[:-1], ', end=" "'
        call = f"print({body}{ending})"
        if _is_python(call) and not _is_python(f"print {rest}"):
            return call + comment
    return None


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
