"""torch's modules as values: given another name, asked for their contents, written as annotations."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = "import torch\nimport torch.nn.functional as F\n\n"


def converted(code: str) -> str:
    return convert_source(HEAD + code).main


def test_a_module_by_another_name_goes_as_an_import_does() -> None:
    text = converted("layers = torch.nn\nnet = layers.Linear(2, 3)\n")
    assert "layers" not in text and "net = nn.Dense(2, 3)" in text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("hasattr(torch, 'relu')", "True"),
        ("hasattr(F, 'scaled_dot_product_attention')", "True"),
        ("hasattr(torch, 'compiler')", "True"),
        ("hasattr(torch, 'no_such_thing')", "False"),
        ("'silu' in dir(torch.nn.functional)", "True"),
        ("'silu' not in dir(F)", "False"),
        ("getattr(torch, 'no_such_thing', 3)", "3"),
    ],
)
def test_what_is_asked_of_a_module_is_answered_by_the_rules(question: str, answer: str) -> None:
    assert f"found = {answer}\n" in converted(f"found = {question}\n")


def test_a_function_taken_by_its_name_is_the_converted_one() -> None:
    assert "f = ms_compat.relu\n" in converted("f = getattr(F, 'relu')\n")


def test_objects_that_are_not_torch_keep_their_questions() -> None:
    assert "hasattr(thing, 'relu')" in converted("def f(thing):\n    return hasattr(thing, 'relu') and 'a' in dir(thing)\n")


def test_a_module_as_an_annotation_still_evaluates() -> None:
    assert "def f(fmt: ops = 'NCHW')" in converted("def f(fmt: F = 'NCHW'):\n    return fmt\n")


def test_a_module_as_a_value_is_a_finding() -> None:
    assert [each.code for each in convert_source(HEAD + "print(torch)\n").findings] == ["MF102"]


def test_a_tie_keeps_its_parenthesis_when_its_value_is_converted() -> None:
    code = "def f(model: torch.nn.Module):\n    for m in model.modules():\n        m.weight = m.bias.clone()\n"
    compile(converted(code), "f", "exec")
    assert "ms_compat.set_layer_parameter(m, 'weight', " in converted(code)


def test_a_default_is_converted_in_its_place():
    assert "f = (lambda: False)()\n" in converted("f = getattr(torch.cpu, '_is_avx2_supported', lambda: False)()\n")
    assert "f = ms_compat.relu\n" in converted("f = getattr(F, 'no_such_function', F.relu)\n")


def test_a_class_chosen_by_a_name_is_one_of_those_that_the_file_mentions() -> None:
    source = "def f(kind):\n    if kind in ['LSTM', 'GRU']:\n        return getattr(torch.nn, kind)(2, 3)\n"
    assert "return {'LSTM': ms_compat.LSTM, 'GRU': ms_compat.GRU}[kind](2, 3)\n" in converted(source)
    assert "g = {'relu': ms_compat.relu}.get(name, None)\n" in converted("name = 'relu'\ng = getattr(F, name, None)\n")


def test_a_class_chosen_by_a_name_from_elsewhere_is_a_finding() -> None:
    assert [each.code for each in convert_source(HEAD + "def f(kind):\n    return getattr(torch.nn, kind)\n").findings] == ["MF102"]
