"""Several statements on a line of training code: written one a line, then lifted as ever."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = "import torch\n\n\ndef train(net: torch.nn.Module, o: torch.optim.SGD, loader):\n"
APART = (
    "    for x in loader:\n        l = net(x).sum()\n        o.zero_grad()\n        l.backward()\n        o.step()\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "    for x in loader: l = net(x).sum(); o.zero_grad(); l.backward(); o.step()\n",
        "    for x in loader: l = net(x).sum(); o.zero_grad(); l.backward(); o.step();\n",
        "    for x in loader:\n        l = net(x).sum()\n        o.zero_grad(); l.backward(); o.step()\n",
        "    for x in loader:\n        l = net(x).sum(); o.zero_grad(); \\\n            l.backward()\n        o.step();\n",
    ],
)
def test_it_is_converted_as_if_each_statement_had_a_line_of_its_own(body: str) -> None:
    together, apart = convert_source(HEAD + body), convert_source(HEAD + APART)
    assert together.main == apart.main and not together.findings
    assert "value_and_grad" in together.main


@pytest.mark.parametrize("header", ["if x: ", "else_", "while x: ", "with torch.no_grad(): ", "try: "])
def test_every_block_on_its_headers_line_opens(header: str) -> None:
    body = {"else_": "if not x: pass\n        else: ", "try: ": "try: "}.get(header, header)
    end = "\n        finally: pass" if header == "try: " else ""
    code = f"{HEAD}    for x in loader:\n        l = net(x).sum()\n        l.backward()\n        {body}a = 1; b = ':;'  # why{end}\n"
    found = convert_source(code)
    assert "MF901" not in [each.code for each in found.findings]
    assert "a = 1\n            b = ':;'  # why\n" in found.main or header == "with torch.no_grad(): "
    compile(found.main, "main", "exec")


def test_findings_name_the_lines_of_the_file_as_it_was() -> None:
    code = (
        HEAD
        + "    for x in loader: l = net(x).sum(); o.zero_grad(); l.backward(); o.step()\n\n\nwhat = torch.no_such_thing\n"
    )
    assert [(each.line, each.message) for each in convert_source(code).findings] == [
        (8, "torch.no_such_thing has no rule")
    ]


def test_code_that_takes_no_gradients_keeps_its_lines() -> None:
    code = "import torch\n\nx = torch.zeros(3); y = x + 1\n\n\ndef f(l): l.step(); l.backward()\n"
    assert "; y = x + 1" in convert_source(code).main
    plain = "def f(player): player.stop(); player.backward('10s')\n"
    assert convert_source(plain).main == plain
