"""Comments put anywhere into real projects change nothing but themselves: they are no facts, and none is lost."""

from __future__ import annotations

import io
import tokenize
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from conformance.digest import ROOT

from mindferry import convert_source

FILES = sorted(
    path for folder in ("tests/projects", "tests/trainers", "examples") for path in (ROOT / folder).rglob("*.py")
)
WORDS = "complex -inf .size() torch fft backward() autograd no_grad distributed DataLoader where ToTensor .pth RANK __main__"


def with_comments(code: str, chance: Random) -> str:
    """At the ends of lines, and on lines of their own; strings and continued lines stay as they are."""
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    ends = {each.start[0] for each in tokens if each.type == tokenize.NEWLINE}
    spoken = {each.start[0] for each in tokens if each.type == tokenize.COMMENT}
    first = {tokens[0].start[0]} | {
        after.start[0]
        for before, after in pairwise(tokens)
        if before.type in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT)
        and after.type not in (tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER)
    }
    starts = {each.start[0] for each in tokens if each.type == tokenize.NEWLINE} & first
    lines = []
    for number, line in enumerate(code.splitlines(), 1):
        if number in starts and number not in spoken and chance.random() < 0.3:
            lines.append(f"{line[: len(line) - len(line.lstrip())]}# {WORDS}")
        if number in ends and number not in spoken and chance.random() < 0.3:
            line = f"{line}  # {WORDS}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def without_comments(code: str) -> list[str]:
    """The code's tokens, line breaks and blank lines left out."""
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return [
        each.string if each.type not in (tokenize.INDENT, tokenize.DEDENT) else tokenize.tok_name[each.type]
        for each in tokens
        if each.type not in skipped
    ]


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)) for path in FILES])
def test_comments_change_no_code(path: Path) -> None:
    code = path.read_text("utf-8")
    spoken = with_comments(code, Random(path.name))
    assert without_comments(spoken) == without_comments(code)
    assert without_comments(convert_source(spoken).main) == without_comments(convert_source(code).main)
