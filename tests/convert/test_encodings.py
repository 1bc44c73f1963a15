"""Sources in every encoding that Python knows: read as Python reads them, written back in the same encoding."""

from __future__ import annotations

import encodings.aliases
import random

import pytest

from mindferry.convert import convert_project

CODECS = sorted({*encodings.aliases.aliases.values(), "utf_8_sig"})
LETTERS = "éàüßñçøþñÅжщдЯλΩπשאךعربي漢字仮名ひらカナ한글ไทย€£¥§¶±→"
TEXT = """# -*- coding: {codec} -*-
import torch  # {letters}
name = "{letters}"; x = torch.cat([torch.zeros(2), torch.ones(2)], dim=0)  # {letters}
label = "{letters}" + str(torch.tensor([1.0, 2.0]).view(-1))
"""


def letters_of(codec: str, rng: random.Random) -> str:
    kept = []
    for letter in LETTERS:
        try:
            if letter.encode(codec).decode(codec) == letter and b"\\" not in letter.encode(codec):
                kept.append(letter)
        except (UnicodeError, LookupError):
            continue
    return "".join(rng.sample(kept, min(6, len(kept))))


def python_reads(raw: bytes) -> bool:
    try:
        compile(raw, "m.py", "exec")
        return True
    except (SyntaxError, ValueError, UnicodeError):
        return False


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_keeps_its_encoding_and_every_letter(codec, tmp_path):
    letters = letters_of(codec, random.Random(3))
    try:
        raw = TEXT.format(codec=codec, letters=letters).encode(codec)
    except (UnicodeError, LookupError):
        return  # no codec of text, or one that no source can be written in
    if not python_reads(raw):
        return
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.py").write_bytes(raw)
    result = convert_project(tmp_path / "in", tmp_path / "out")
    written = (tmp_path / "out" / "m.py").read_bytes()
    assert python_reads(written)
    if result.files[0].status == "failed":
        assert written == raw
        return
    text = written.decode(codec)
    assert ("import torch" not in text and "mint.cat" in text) or "ops.cat" in text
    assert text.count(letters) == 4 if letters else True


def test_a_codec_that_python_cannot_read_line_by_line_is_a_finding(tmp_path):
    raw = TEXT.format(codec="punycode", letters="é").encode("punycode")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.py").write_bytes(raw)
    result = convert_project(tmp_path / "in", tmp_path / "out")
    assert result.files[0].status == "failed" and (tmp_path / "out" / "m.py").read_bytes() == raw


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "shift_jis", "utf-8", "koi8-r"])
def test_a_file_that_is_not_changed_stays_byte_for_byte(codec, tmp_path):
    letters = letters_of(codec, random.Random(5))
    raw = f"# coding: {codec}\r\nname = '{letters}'\r\nmine = torch = 3\n".encode(codec)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.py").write_bytes(raw)
    (tmp_path / "in" / "net.py").write_text("import torch\n\nx = torch.ones(2)\n")
    convert_project(tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out" / "m.py").read_bytes() == raw


def test_statements_on_one_line_are_parted_in_a_latin_1_file(tmp_path):
    raw = (
        "# coding: latin-1\nimport torch\n\n\ndef train(net, x, opt):\n"
        "    loss = net(x).sum(); loss.backward(); opt.step()  # déjà vu\n    print('é', loss)\n"
    ).encode("latin-1")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.py").write_bytes(raw)
    convert_project(tmp_path / "in", tmp_path / "out")
    text = (tmp_path / "out" / "m.py").read_bytes().decode("latin-1")
    assert "déjà vu" in text and "print('é', loss)" in text and "Ã" not in text
