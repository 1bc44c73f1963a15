"""Code that looks like torch and isn't: converting leaves it byte for byte as it was, and finds nothing to say about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry import convert_source
from mindferry.findings import MF150

CORPUS = Path(__file__).parent / "left_alone"
HEADER = "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def _cases() -> list[tuple[str, str]]:
    found = []
    for path in sorted(CORPUS.glob("*.txt")):
        for block in path.read_text("utf-8").split("### ")[1:]:
            name, _, code = block.partition("\n")
            found.append((f"{path.stem}: {name}", code))
    return found


CASES = _cases()


@pytest.mark.parametrize(("name", "code"), CASES, ids=[name for name, _ in CASES])
def test_code_that_is_not_torch_stays(name: str, code: str) -> None:
    has_own_imports = ": own imports:" in name
    source = code if has_own_imports else HEADER + code
    conversion = convert_source(source)
    kept = conversion.main if has_own_imports else conversion.main.removeprefix("import numpy as np\n")
    assert kept == code
    said = [finding for finding in conversion.findings if finding.severity != "note"]
    assert [finding for finding in said if finding.code != MF150] == []  # a package that may need torch is told


def test_the_corpus_is_large_and_its_names_differ() -> None:
    names = [name for name, _ in CASES]
    assert len(names) == len(set(names)) >= 150
