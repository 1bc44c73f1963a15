"""`mindferry weights` on the command line: what it prints, its exit codes, and that it is whole or absent."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mindferry.weights.formats.entry import Entry
from mindferry.weights.formats.files import open_checkpoint, write_checkpoint


def run(*arguments, cwd):
    command = [sys.executable, "-m", "mindferry", "weights", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def write(path, **arrays):
    arrays = {name.replace("__", "."): np.asarray(array) for name, array in arrays.items()}
    write_checkpoint(path, [Entry(n, str(a.dtype), a.shape, compute=lambda a=a: a) for n, a in arrays.items()], "pt")


BN = {f"bn__{name}": np.arange(3, dtype=np.float32) for name in ("weight", "bias", "running_mean", "running_var")}


def test_convert_prints_what_became_of_what_and_exits_with_0(tmp_path):
    write(tmp_path / "a.pth", fc__weight=np.ones((2, 3), np.float32), fc__bias=np.ones(2, np.float32), **BN)
    done = run("convert", "a.pth", "-o", "a.ckpt", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("a.pth -> a.ckpt: 6 tensors (2 exact, 4 pattern)")
    done = run("convert", "a.ckpt", "-o", "b.pth", "--reverse", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["kind"] == "WeightsReport"
    assert {entry["target"] for entry in report["entries"]} == {
        "fc.weight",
        "fc.bias",
        *(n.replace("__", ".") for n in BN),
    }
    done = run("diff", "a.pth", "b.pth", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == "6 equal, 0 differ\n"


def test_diff_sees_through_names_formats_and_layouts_and_finds_one_changed_value(tmp_path):
    conv = np.random.default_rng(0).standard_normal((4, 3, 5)).astype(np.float32)
    write(tmp_path / "a.pth", c__weight=conv, e__weight=conv[0], **BN)
    ours = {"bn__gamma": BN["bn__weight"], "bn__beta": BN["bn__bias"], "bn__moving_mean": BN["bn__running_mean"]}
    ours |= {"bn__moving_variance": BN["bn__running_var"], "c__weight": conv[:, :, None], "e__embedding_table": conv[0]}
    write(tmp_path / "a.ckpt", **ours)
    assert run("diff", "a.pth", "a.ckpt", cwd=tmp_path).returncode == 0
    changed = conv[:, :, None].copy()
    changed[1, 2, 0, 3] += 0.25
    write(tmp_path / "b.safetensors", **(ours | {"c__weight": changed, "extra": np.ones(1)}))
    done = run("diff", "a.pth", "b.safetensors", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == "c.weight: values differ by up to 0.25\nonly in b.safetensors: 1: extra\n5 equal, 1 differ\n"
    done = run("diff", "a.ckpt", "b.safetensors", "--tolerance", "0.3", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["changed"] == []


def test_diff_tells_types_and_not_a_number_apart(tmp_path):
    x = np.array([1.0, np.nan, 3.0], np.float32)
    write(tmp_path / "a.pth", x=x, y=x, z=x)
    write(tmp_path / "b.pth", x=x, y=x.astype(np.float64), z=np.array([1.0, 2.0, 3.0], np.float32))
    done = run("diff", "a.pth", "b.pth", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "y: float32 against float64, same values",
        "z: values differ by up to inf",
        "1 equal, 2 differ",
    ]


def test_inspect_counts_and_finds_what_is_no_number(tmp_path):
    x = np.array([[1.0, -3.0], [np.nan, np.inf]], np.float32)
    write(tmp_path / "a.ckpt", x=x, n=np.array([2, 4], np.int64))
    done = run("inspect", "a.ckpt", cwd=tmp_path)
    assert done.returncode == 1
    first, second, total, *_ = done.stdout.splitlines()
    assert first.split() == "x float32 (2, 2) min -3 max 1 mean -1 std 2 NaN 1, infinite 1".split()
    assert "mean 3" in second and total == "2 tensors, 6 values, 0.0 MB (ckpt)"
    done = run("inspect", "a.ckpt", "--quick", "--json", cwd=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["tensors"][0]["statistics"] is None


def test_statistics_are_numpys_for_every_type_with_an_arithmetic(tmp_path):
    torch = pytest.importorskip("torch")
    from mindferry.weights.inspect import inspect_weights

    x = torch.randn(1000, 700) * 3 + 1
    kinds = ("float64", "float32", "float16", "bfloat16", "int32", "uint8", "bool", "complex64")
    torch.save({kind: x.abs().to(getattr(torch, kind)) for kind in kinds}, tmp_path / "a.pth")
    for tensor in inspect_weights(tmp_path / "a.pth").tensors:
        values = x.abs().to(getattr(torch, tensor.name))
        values = (values.abs() if values.is_complex() else values).double().numpy()
        figures = tensor.statistics
        got = (figures.minimum, figures.maximum, figures.mean, figures.std)
        np.testing.assert_allclose(got, (values.min(), values.max(), values.mean(), values.std()), rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("convert", "gone.pth", "-o", "a.ckpt"), "gone.pth: doesn't exist"),
        (("convert", "a.pth", "-o", "a.onnx"), "cannot tell the format of a.onnx"),
        (("convert", "a.pth", "-o", "a.ckpt", "--shard", "5GB"), "only safetensors can be sharded"),
        (("convert", "a.pth", "-o", "a.safetensors", "--shard", "many"), "no size"),
        (("convert", "a.pth", "-o", "a.ckpt", "--key", "model"), "no tensors under 'model'"),
        (("convert", "a.pth", "-o", "/proc/none/a.ckpt"), "cannot write"),
        (("inspect", "text.bin"), "text.bin: record 1 is no complete pickle"),
        (("diff", "a.pth", "gone.ckpt"), "gone.ckpt: doesn't exist"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, reason, tmp_path):
    write(tmp_path / "a.pth", x=np.ones(3))
    (tmp_path / "text.bin").write_text("hello")
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mindferry: ") and reason in done.stderr and done.stderr.count("\n") == 1


def test_a_strict_conversion_that_does_not_fit_lists_it_and_exits_with_1(tmp_path):
    pytest.importorskip("mindspore")
    (tmp_path / "nets.py").write_text(
        "from mindspore import nn\n\ndef net():\n    return nn.SequentialCell(nn.Dense(3, 2))\n"
    )
    write(tmp_path / "a.pth", **{"0__weight": np.ones((2, 4), np.float32), "1__bias": np.ones(2, np.float32)})
    done = run("convert", "a.pth", "-o", "a.ckpt", "--model", "nets:net", cwd=tmp_path)
    assert done.returncode == 1 and not (tmp_path / "a.ckpt").exists()
    assert "missing from the file: 1: 0.bias" in done.stdout and "unexpected in the file: 1: 1.bias" in done.stdout
    assert "0.weight (2, 3) in the model, 0.weight (2, 4) in the file" in done.stdout


def test_neither_framework_is_imported(tmp_path):
    write(tmp_path / "a.pth", x=np.ones(3))
    code = (
        "import sys\nfrom mindferry.weights import convert_weights\nconvert_weights('a.pth', 'a.ckpt')\n"
        "convert_weights('a.ckpt', 'b.pth', reverse=True)\nassert not {'torch', 'mindspore', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_killed_at_fifty_random_moments_no_partial_file_is_ever_visible(tmp_path):
    write(tmp_path / "a.pth", **{f"w{n}": np.random.default_rng(n).random((1 << 20,)) for n in range(3)})
    loop = (
        "import itertools\nfrom mindferry.weights import convert_weights\n"
        "print('ready', flush=True)\n"
        "for n in itertools.count():\n"
        "    for kind in ('ckpt', 'safetensors', 'pth'):\n"
        "        convert_weights('a.pth', f'out/{n % 3}.{kind}', force=True)\n"
        "        convert_weights('a.pth', f'out/s{n % 3}.safetensors', shard_bytes=9_000_000, force=True)\n"
    )
    rng = random.Random(0)
    seen = 0
    for _ in range(50):
        process = subprocess.Popen([sys.executable, "-c", loop], cwd=tmp_path, stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.25))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        for path in (tmp_path / "out").glob("[!.]*"):
            with open_checkpoint(path) as checkpoint:
                checkpoint.verify()
                assert sum(entry.nbytes for entry in checkpoint.entries) in (8 << 20, 24 << 20)
            seen += 1
        for path in (tmp_path / "out").glob("*"):
            path.unlink()
    assert seen
