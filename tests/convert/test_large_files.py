"""A file that is too large to be kept beside all others is still parsed once, as long as nothing else is read between."""

from pathlib import Path

import pytest

from mindferry import layout
from mindferry.convert.project import convert_project
from mindferry.layout import Sources, find_files
from mindferry.read.source import Source

TEXT = "import torch\n\n\ndef f(x):\n    return g(x)\n\n\ndef g(x):\n    return torch.relu(x)\n"


@pytest.mark.parametrize("room", [10, 4 * len(TEXT)])
def test_the_file_that_was_read_last_is_kept_whatever_its_size(tmp_path: Path, room: int) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(TEXT)
    first, second = find_files(tmp_path, ()).files
    sources = Sources(room)
    kept = sources.read(first)
    assert sources.read(first) is kept
    sources.read(second)
    assert (sources.read(first) is kept) == (room > len(TEXT))
    again = sources.read(second)
    assert sources.take(second, TEXT.encode()) is again
    assert sources.take(second, TEXT.encode()) is not again
    assert sources.take(first, b"x = 1\n").data == b"x = 1\n"
    assert sources._room == room


def test_a_large_file_is_parsed_and_read_less_often_and_converted_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    parsed: list[str] = []
    made = Source.__init__

    def note(self: Source, raw: bytes | str, path: str = "<string>") -> None:
        parsed.append(path)
        made(self, raw, path)

    monkeypatch.setattr(Source, "__init__", note)

    def converted() -> bytes:
        texts: dict[str, bytes] = {}
        parsed.clear()
        convert_project(tmp_path, tmp_path / "never", check=True, texts=texts)
        return texts["a.py"]

    usual = converted()
    assert parsed == ["a.py"]
    monkeypatch.setattr(layout, "ROOM", 10)
    monkeypatch.setattr(Sources.__init__, "__defaults__", (10,))
    assert converted() == usual
    assert parsed == ["a.py"]
