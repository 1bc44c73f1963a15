"""Random numbers that both sides share: those of numpy's global generator, whoever of the script's side draws them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindferry.train.exchange import Exchange
from mindferry.train.randomness import Draws, HostStream


def function(module: str, code: str, file: str) -> Any:
    names: dict[str, Any] = {"__name__": module, "np": np}
    exec(compile(code, file, "exec"), names)
    return names["f"]


def test_an_environment_draws_from_the_script_s_numbers_and_mindspore_from_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = HostStream(Draws(tmp_path, Exchange(tmp_path), ("ms_compat",)))
    for name in dir(stream.stream):
        if not name.startswith("_") and callable(getattr(np.random, name, None)):
            monkeypatch.setattr(
                np.random, name, getattr(np.random, name)
            )  # undone at the end, whatever install() puts there
    stream.install()
    draw = "def f():\n    return np.random.uniform(size=3).tolist()\n"
    seed = function("__main__", "def f():\n    np.random.seed(5)\n", f"{tmp_path}/main.py")
    script, environment = (
        function("__main__", draw, f"{tmp_path}/main.py"),
        function("gym.spaces", draw, "/lib/gym/spaces.py"),
    )
    framework = function("mindspore.common.initializer", draw, "/lib/mindspore/common/initializer.py")
    helper = function("ms_compat", draw, f"{tmp_path}/ms_compat.py")
    seed()
    found = []
    for each in (script, framework, environment, helper, script):
        values = each()
        found += [] if each in (framework, helper) else values
    assert found == np.random.RandomState(5).uniform(size=9).tolist()
