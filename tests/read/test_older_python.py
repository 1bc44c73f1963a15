"""Python 2's statements and `async=` are read as Python 3 has them; what is no Python at all stays unread."""

import ast

import pytest

from mindferry import convert_source
from mindferry.read.older_python import as_python3
from mindferry.read.source import Source, Unreadable

OLD = {
    "def f(x):\n    return x.cuda(async=True)\n": "def f(x):\n    return x.cuda(non_blocking=True)\n",
    "def f(x, y):\n    return x, \\\n        y.cuda(async = True)\n": "def f(x, y):\n    return x, \\\n        y.cuda(non_blocking = True)\n",
    "print 'loss', 3\n": "print('loss', 3)\n",
    "if 1: print 'yes'  # said\n": "if 1: print('yes')  # said\n",
    "for i in range(3):\n    print i,\nprint\n": 'for i in range(3):\n    print(i, end=" ")\nprint\n',
    "print 'a # b' % 3\n": "print('a # b' % 3)\n",
    "print 'F1:', max(1,\n    2)\n": "print('F1:', max(1,\n    2))\n",
    "try:\n    pass\nexcept (IOError, OSError), e:\n    raise ValueError, 'bad: %s' % e\n": "try:\n    pass\nexcept (IOError, OSError) as e:\n    raise ValueError('bad: %s' % e)\n",
    "if 1:\n        x = 1\n\ty = 2\n": "if 1:\n        x = 1\n        y = 2\n",
    "print (1, 2), 3\nprint 'x'\n": "print (1, 2), 3\nprint('x')\n",
}


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_an_older_statement_is_put_as_python_3_has_it(old: str, new: str) -> None:
    mended = as_python3(old)
    assert mended is not None
    assert mended[0] == new
    ast.parse(mended[0])
    assert mended[0].count("\n") == old.count("\n")


@pytest.mark.parametrize(
    "text", ["x = = 1\n", "print 'a' 'b' c d\n", "class nn.Norm(object):\n    pass\n", "\tx = (\n"]
)
def test_what_is_no_python_at_all_stays_unread(text: str) -> None:
    assert as_python3(text) is None
    with pytest.raises(Unreadable):
        Source(text)


def test_an_old_training_loop_is_converted_and_says_that_it_was_old() -> None:
    done = convert_source(
        "import torch\n\n\ndef run(batches, net):\n    for x in batches:\n        x = x.cuda(async=True)\n"
        "        print 'mean', torch.mean(net(x))\n"
    )
    compile(done.main, "old.py", "exec")
    assert "async" not in done.main and "print('mean', " in done.main and "torch" not in done.main
    told = [each for each in done.findings if each.code == "MF908"]
    assert [each.line for each in told] == [6, 7]
    assert "Python 2" in told[1].message and "division" in told[1].advice
