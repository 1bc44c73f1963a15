"""The helpers of a converted project are loaded once, under whatever names its files import them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUN = """import sys

from mindferry.frameworks.helper_modules import helpers_of

sys.path.insert(0, "")
(found,) = helpers_of(["src.kit.ms_compat"])
sys.path.insert(0, "src")
import kit
import kit.net
import ms_compat

assert kit.ms_compat is kit.net.ms_compat is ms_compat is found, "another copy"
assert found.__name__ == found.__spec__.name == "src.kit.ms_compat" and found.drawn == [1]
"""


def test_a_script_that_puts_src_on_its_path_gets_the_copy_that_comparisons_change(tmp_path: Path) -> None:
    package = tmp_path / "src" / "kit"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from . import ms_compat\n")
    (package / "net.py").write_text("from . import ms_compat\n")
    (package / "ms_compat.py").write_text("drawn = [1]\n")
    done = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
