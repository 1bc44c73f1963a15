"""Imports that a project can do without: the handler of the ImportError keeps its meaning."""

from __future__ import annotations

from mindferry import convert_source

TRACER = "try:\n    from torch.fx import Tracer\nexcept ImportError:\n    {}\n"


def converted(code: str) -> str:
    return convert_source(code).main


def test_what_mindspore_lacks_is_missing_as_the_project_foresaw() -> None:
    text = converted(TRACER.format("Tracer = None") + "tracer = Tracer() if Tracer is not None else None\n")
    values: dict[str, object] = {}
    exec(text, values)
    assert values["tracer"] is None and values["Tracer"] is None


def test_a_substitute_from_elsewhere_is_used() -> None:
    text = converted(TRACER.format("from json import JSONEncoder as Tracer") + "tracer = Tracer()\n")
    values: dict[str, object] = {}
    exec(text, values)
    assert type(values["tracer"]).__name__ == "JSONEncoder"


def test_what_has_a_counterpart_is_converted_whatever_the_handler_says() -> None:
    text = converted(
        "import torch\ntry:\n    from torch.nn import Identity\nexcept ImportError:\n    Identity = None\nnet = Identity()\n"
    )
    assert "net = nn.Identity()" in text and "raise" not in text


def test_without_a_substitute_the_use_is_a_finding() -> None:
    conversion = convert_source(TRACER.format("print('no tracer')") + "tracer = Tracer()\n")
    assert [each.code for each in conversion.findings if each.severity == "error"] == ["MF101"]
    assert "raise" not in conversion.main


def test_torch_itself_may_be_optional() -> None:
    text = converted(
        "try:\n    import torch\nexcept ImportError:\n    torch = None\n\ndef f(x):\n    return torch.relu(x)\n"
    )
    assert "return ops.relu(x)" in text and "raise" not in text
