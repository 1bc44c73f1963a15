"""A file of Python 2 is clean only if nothing of what Python 3 lacks, or does otherwise, is left in it."""

import pytest

from mindferry import convert_source

HEAD = "import torch\nprint 'start'\n"
STOPS = {
    "for i in xrange(3):\n    x = torch.ones(i)\n": (3, "Python 3 has no xrange", "write range in its place"),
    "d = {}\nfor k, v in d.iteritems():\n    pass\n": (4, "no iteritems", "write items in its place"),
    "import cPickle\nx = torch.ones(2)\n": (3, "no module cPickle", "import pickle in its place"),
    "from urllib2 import urlopen\n": (3, "no module urllib2", "import urllib.request in its place"),
    "n = len('abc')\nhalf = n / 2\n": (4, "division of two integers", "write // in place of /"),
    "x = torch.ones(4)\nx.sum().backward(); k = 7 / 2\n": (4, "division of two integers", "write // in place of /"),
}
RUNS = (
    "try:\n    xrange\nexcept NameError:\n    xrange = range\nfor i in xrange(3):\n    pass\n",
    "from six.moves import xrange, reduce\nfor i in xrange(3):\n    pass\n",
    "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle\n",
    "x = torch.ones(2) / 2\ny = 3.0 / 2\nz = 7 // 2\n",
)


@pytest.mark.parametrize(("text", "expected"), STOPS.items())
def test_what_stops_it_in_python_3_is_an_error_at_its_line(text: str, expected: tuple[int, str, str]) -> None:
    found = [each for each in convert_source(HEAD + text).findings if each.code == "MF908" and each.severity == "error"]
    assert [each.line for each in found] == [expected[0]]
    assert expected[1] in found[0].message and found[0].advice == expected[2]


@pytest.mark.parametrize("text", RUNS)
def test_what_runs_in_python_3_too_is_no_error(text: str) -> None:
    assert [each.severity for each in convert_source(HEAD + text).findings if each.code == "MF908"] == ["warning"]


def test_a_file_of_python_3_is_not_searched() -> None:
    found = convert_source("import torch\nn = 4\nhalf = torch.ones(n / 2)\nfor i in xrange(n):\n    pass\n").findings
    assert not [each for each in found if each.code == "MF908"]
