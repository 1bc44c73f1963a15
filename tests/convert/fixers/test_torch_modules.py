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
    assert "hasattr(thing, 'relu')" in converted(
        "def f(thing):\n    return hasattr(thing, 'relu') and 'a' in dir(thing)\n"
    )


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
    assert [
        each.code for each in convert_source(HEAD + "def f(kind):\n    return getattr(torch.nn, kind)\n").findings
    ] == ["MF102"]


CONVOLUTIONS = "{'Conv1d': ms_compat.Conv1d, 'Conv2d': ms_compat.Conv2d, 'Conv3d': ms_compat.Conv3d}"


@pytest.mark.parametrize(
    "built",
    [
        "'Conv{}d'.format(d)",
        "'{}{}d'.format('Conv', d)",
        "'Conv%dd' % d",
        "f'Conv{d}d'",
        "'Conv' + str(d) + 'd'",
        "'{k}{d}d'.format(k='Conv', d=d)",
    ],
)
def test_a_name_that_is_built_may_be_each_that_its_pattern_fits(built: str) -> None:
    found = convert_source(
        f"{HEAD}def f(d):\n    other = 'ReLU'\n    name = {built}\n    return getattr(torch.nn, name)\n"
    )
    assert f"return {CONVOLUTIONS}[name]\n" in found.main and not found.findings
    assert f"return {CONVOLUTIONS}[{built}]\n" in converted(f"def f(d):\n    return getattr(torch.nn, {built})\n")


@pytest.mark.parametrize(
    "code",
    [
        "def f(kind):\n    assert kind in ('ReLU', 'GELU')\n    return getattr(torch.nn, kind)\n",
        "def f(cfg):\n    return getattr(torch.nn, cfg.kind) if cfg.kind == 'ReLU' or cfg.kind == 'GELU' else None\n",
        "KINDS = {'r': 'ReLU', 'g': 'GELU'}\ndef f(kind):\n    return getattr(torch.nn, KINDS[kind])\n",
        "def f(is_plain):\n    kind = 'ReLU' if is_plain else 'GELU'\n    return torch.nn.__dict__[kind]\n",
        "for kind in ['ReLU', 'GELU']:\n    print(vars(torch.nn)[kind])\n",
        "from typing import Literal\ndef f(kind: Literal['ReLU', 'GELU']):\n    return getattr(torch.nn, kind)\n",
    ],
)
def test_a_name_that_is_sure_to_be_one_of_a_few_has_a_table_of_those(code: str) -> None:
    found = convert_source(HEAD + "other = 'SiLU'\n" + code)
    assert "{'ReLU': ms_compat.ReLU, 'GELU': ms_compat.GELU}[" in found.main and not found.findings


@pytest.mark.parametrize(
    ("code", "table"),
    [
        ("def f(kind='relu'):\n    return getattr(F, kind)\n", "{'relu': ms_compat.relu}[kind]"),
        ("def f(cfg, kind='ReLU'):\n    return getattr(torch.nn, cfg.act)\n", "{'ReLU': ms_compat.ReLU}[cfg.act]"),
        ("def f(args, name='ReLU'):\n    return torch.nn.__dict__[args.act]\n", "{'ReLU': ms_compat.ReLU}[args.act]"),
        (
            "def f(kind, name='ReLU'):\n    def g():\n        return getattr(torch.nn, (kind), None)\n",
            "{'ReLU': ms_compat.ReLU}.get((kind), None)",
        ),
    ],
)
def test_a_name_from_elsewhere_has_a_table_of_those_mentioned_and_a_warning(code: str, table: str) -> None:
    found = convert_source(HEAD + code)
    assert table in found.main
    assert [(each.code, each.severity) for each in found.findings] == [("MF102", "warning")]
    assert "can't be told" in found.findings[0].message and table.split("'")[1] in found.findings[0].message


def test_a_name_that_is_set_again_is_what_it_was_set_to_last() -> None:
    code = "def f(d, k):\n    n = 'Conv{}d'.format(d)\n    c = getattr(torch.nn, n)\n    if k:\n        n = 'ReLU'\n        k = getattr(torch.nn, n)\n    return getattr(torch.nn, n)\n"
    main = converted(code)
    assert f"c = {CONVOLUTIONS}[n]\n" in main and "k = {'ReLU': ms_compat.ReLU}[n]\n" in main
    assert "return {'ReLU': ms_compat.ReLU, " + CONVOLUTIONS[1:] + "[n]\n" in main


def test_a_name_that_is_built_from_itself_keeps_what_it_was() -> None:
    text = converted("def f(d):\n    n = 'Conv'\n    n = n + str(d) + 'd'\n    return getattr(torch.nn, n)\n")
    assert f"return {CONVOLUTIONS}[n]\n" in text


def test_a_name_that_has_no_counterpart_is_said_to_be_missing_in_the_table() -> None:
    found = convert_source(
        HEAD + "def f(kind):\n    if kind in ('ReLU', 'NoSuchLayer'):\n        return getattr(torch.nn, kind)\n"
    ).findings
    assert [each.severity for each in found] == ["warning"] and "NoSuchLayer" in found[0].message


@pytest.mark.parametrize("code", ["getattr(models, arch)()", "models.__dict__[arch]()"])
def test_models_of_torchvision_by_name_are_never_silent(code: str) -> None:
    found = convert_source(
        f"import torchvision.models as models\n\n\ndef f(arch='resnet18'):\n    return {code}\n"
    ).findings
    assert "error" in [each.severity for each in found]


def test_modules_imported_by_a_call_convert_as_others_do() -> None:
    source = """import importlib
torch = __import__("torch")
nn = importlib.import_module("torch.nn")

def ramp(n):
    return [v.item() for v in __import__("torch").linspace(0, 1, n)], torch.relu(torch.ones(n)), nn.Linear(2, 3)

def hand_on(use):
    return use(__import__("torch"))
"""
    result = convert_source(source)
    assert "ms_compat.linspace(0, 1, n)" in result.main and "Dense(2, 3)" in result.main
    assert [(each.code, each.line) for each in result.findings] == [("MF102", 9)]
    assert result.main.count("__import__") == 1


def test_a_question_for_a_name_that_is_computed_is_asked_of_the_same_table() -> None:
    code = """
import torch
def kind_of(dtype):
    if isinstance(dtype, str) and hasattr(torch, dtype):
        dtype = getattr(torch, dtype)
    return dtype
def is_known(name):
    assert name in ("relu", "sigmoid")
    return hasattr(torch, name if name else "relu") or not hasattr(torch, name)
"""
    conversion = convert_source(code)
    assert "hasattr" not in conversion.main
    made: dict[str, object] = {}
    exec(compile(conversion.main, "made.py", "exec"), made)
    kind_of, is_known = made["kind_of"], made["is_known"]
    assert callable(kind_of) and callable(is_known)
    assert kind_of("auto") == "auto" and str(kind_of("float16")) == "Float16" and is_known("relu") is True


def test_a_module_by_another_name_stays_where_something_of_it_is_left(tmp_path, monkeypatch):
    conversion = convert_source(
        "import torch\n\naten = torch.ops.aten\nN = torch.nn\nCOSTS = {aten.mm: 2}\n\n\n"
        "class Net(N.Module):\n    def __init__(self):\n        N.Module.__init__(self)\n\n\n"
        "def cost(x):\n    return COSTS.get(aten.made_up(x))\n"
    )
    (tmp_path / "with_alias.py").write_text(conversion.code)
    monkeypatch.syspath_prepend(tmp_path)
    import with_alias

    assert len(with_alias.COSTS) == 1 and with_alias.Net() is not None and "N = " not in conversion.main
    with pytest.raises(NotImplementedError, match=r"aten\.made_up has no rule"):
        with_alias.cost(1)


def test_one_of_a_few_modules_imported_by_name_gives_what_stands_for_each() -> None:
    result = convert_source("""import importlib
import torch

class Log:
    def __init__(self, folder):
        for module in ["torch.utils.tensorboard", "tensorboardX"]:
            try:
                self.writer = importlib.import_module(module).SummaryWriter(folder)
                break
            except ImportError:
                self.module = module
        self.other = importlib.import_module(folder).thing(torch.ones(1))
""")
    assert "'torch.utils.tensorboard': ms_compat.SummaryWriter}[module](folder)" in result.main
    assert "importlib.import_module(folder).thing(" in result.main and not result.findings
