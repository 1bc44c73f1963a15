"""A numpy array whose pickle begins it and gives it no contents: found by the fuzzer."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from mindferry.errors import MindferryError
from mindferry.weights.formats.files import open_checkpoint

SPEC = importlib.util.spec_from_file_location("fuzz_weights", Path(__file__).parents[2] / "fuzz" / "weights.py")
# {"w": numpy.core.multiarray._reconstruct(numpy.ndarray, (0,), b"b")}, without the state that would follow
UNFILLED = b"\x80\x02}U\x01wcnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btRs."


def test_an_array_without_contents_is_refused_in_one_line(tmp_path):
    fuzz = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(fuzz)
    path = tmp_path / "model.pth"
    path.write_bytes(fuzz.repacked(fuzz.seeds(tmp_path)["pth"], UNFILLED))
    with (
        pytest.raises(MindferryError, match=r"begins an array '?w'? and never fills it") as refused,
        open_checkpoint(path),
    ):
        pass
    assert "\n" not in str(refused.value)
