"""Which framework a file is written for is told by what it imports; what has no counterpart is a finding, never silence."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from mindferry import convert_source
from mindferry.convert import convert_project

TAPE = """import tensorflow as tf

def step(net, x, y, optimizer, total):
    with tf.GradientTape() as tape:  # records
        out = net(x, training=True)
        loss = tf.reduce_mean(tf.square(out - y))
        total += 1
    print(out)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss, total
"""


def test_a_tape_becomes_a_function_and_its_gradient() -> None:
    made = convert_source(TAPE)
    assert made.findings == ()
    assert "def forward_fn(total=total):  # records" in made.main
    assert "return loss, out, total" in made.main
    assert (
        "(loss, out, total), gradients = ms_keras.value_and_gradients(forward_fn, lambda: net.trainable_variables)"
        in made.main
    )
    assert "grads = gradients" in made.main and "tape" not in made.main
    ast.parse(made.code)


def test_two_tapes_of_one_name_after_each_other_are_two_functions() -> None:
    code = """import tensorflow as tf

def step(a, b, x, one, two):
    with tf.GradientTape() as tape:
        first = tf.reduce_mean(a(x))
    grads = tape.gradient(first, a.trainable_variables)
    one.apply_gradients(zip(grads, a.trainable_variables))
    with tf.GradientTape() as tape:
        second = tf.reduce_mean(b(a(x)))
    grads = tape.gradient(second, b.trainable_variables)
    two.apply_gradients(zip(grads, b.trainable_variables))
    return first, second
"""
    made = convert_source(code)
    assert made.findings == ()
    assert "first, grads = ms_keras.value_and_gradients(forward_fn, lambda: a.trainable_variables)" in made.main
    assert "second, grads = ms_keras.value_and_gradients(forward_fn_, lambda: b.trainable_variables)" in made.main


def test_the_gradient_that_follows_at_once_is_one_statement() -> None:
    made = convert_source(TAPE.replace("    print(out)\n", ""))
    assert "(loss, total), grads = ms_keras.value_and_gradients(" in made.main


def test_what_a_block_sets_on_some_way_only_has_a_value_behind_it() -> None:
    code = """import tensorflow as tf

def step(net, xs, state, is_first):
    loss = 0.0
    with tf.GradientTape() as tape:
        for t in range(3):
            loss += tf.reduce_sum(net(xs[t]) * state)
            last = t
        if is_first:
            state = state * 2
            extra = loss
        squares = [t * t for t in range(2)]
    grads = tape.gradient(loss, net.trainable_variables)
    return grads, state, extra if is_first else None, last, squares
"""
    made = convert_source(code)
    assert made.findings == ()
    assert "def forward_fn(loss=loss, state=state, extra=None, last=None):" in made.main
    assert "return loss, extra, last, squares, state" in made.main


def test_what_a_block_sets_for_its_next_round_is_handed_on() -> None:
    code = """import tensorflow as tf

def run(w, state, steps):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            state = state * w
            for part in tf.unstack(state):
                total = part * 2
            loss = tf.reduce_sum(state) + total
        w.assign_sub(tape.gradient(loss, w))
    total = 0
    return total
"""
    made = convert_source(code)
    assert made.findings == ()
    assert "def forward_fn(state=state, total=None):" in made.main and "return loss, state, total" in made.main


def test_what_a_block_sets_for_other_functions_is_declared_so() -> None:
    block = (
        "    with tf.GradientTape() as t:\n        best = w * 2\n        loss = score()\n    g = t.gradient(loss, w)\n"
    )
    top = "import tensorflow as tf\nw = tf.Variable(2.0)\ndef score():\n    return best * 3\nif True:\n"
    nested = "import tensorflow as tf\ndef run(w):\n    def score():\n        return best * 3\n"
    asked = "import tensorflow as tf\ndef run(w, score):\n    global best\n"
    for head, word in ((top, "global"), (nested, "nonlocal"), (asked, "global")):
        assert f"def forward_fn():\n        {word} best\n" in convert_source(head + block).main


@pytest.mark.parametrize(
    ("done", "is_told"),
    [
        ("out, gain = env.step(x)", True),
        ("seen.append(x)", True),
        ("self.count += 1", True),
        ("noise = np.random.rand()", True),
        ("metric.update_state(x)", False),
        ("own = []\n        own.append(x)", False),
        ("tf.print(x)", False),
    ],
)
def test_what_a_tape_does_again_for_each_gradient_is_told(done: str, is_told: bool) -> None:
    code = f"""import numpy as np
import tensorflow as tf

def step(self, a, b, x, env, seen, metric):
    with tf.GradientTape(persistent=True) as tape:
        {done}
        one = a * x
        two = b * x
    return tape.gradient(one, a), tape.gradient(two, b)
"""
    assert [each.severity for each in convert_source(code).findings] == ["warning"] * is_told
    once = code.replace("        two = b * x\n", "").replace(", tape.gradient(two, b)", "")
    assert convert_source(once.replace("return tape", "g = tape")).findings == ()


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("x.shape.as_list()", "list(x.shape)"),
        ("x.get_shape().as_list()[1]", "list(x.shape)[1]"),
        ("x.shape.rank", "len(x.shape)"),
        ("tf.square(x).shape.ndims", "len(ms_keras.tf_square(x).shape)"),
        ("x.dtype.name", "ms_keras.dtype_name(x.dtype)"),
        ("x[:, tf.newaxis]", "x[:, None]"),
    ],
)
def test_what_only_tensorflows_shapes_have_is_written_for_tuples(written: str, wanted: str) -> None:
    made = convert_source(f"import tensorflow as tf\n\ndef f(x):\n    return {written}\n")
    assert made.findings == () and f"return {wanted}\n" in made.main


def test_a_table_of_helpers_keeps_what_is_named_unless_names_come_from_outside(tmp_path: Path) -> None:
    code = (
        "import keras\n\nnet = keras.Sequential([keras.layers.Dense(2)])\nnet.compile('adam', 'mse')\nnet.fit(x, y)\n"
    )
    sizes = []
    for name, more in (("plain", ""), ("read", "import json\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(more + code)
        convert_project(tmp_path / name, tmp_path / f"{name}_ms")
        sizes.append((tmp_path / f"{name}_ms/ms_keras.py").read_text())
    assert "class Adam(" in sizes[0] and "class RMSprop(" in sizes[0] and "class Ftrl(" not in sizes[0]
    assert "class Ftrl(" in sizes[1] and len(sizes[0]) < 0.8 * len(sizes[1])


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            'with tf.GradientTape() as t:\n    y = x * x\n    print("""a\nb""")\n    g = t.gradient(y, x)\n',
            "inside of its own block",
        ),
        ("with tf.GradientTape() as t:\n    y = x * x\ng = t.gradient(y * 2, x)\n", "has no name"),
        (
            "for _ in range(3):\n    with tf.GradientTape() as t:\n        y = x * x\n        break\n    g = t.gradient(y, x)\n",
            "by a loop",
        ),
    ],
)
def test_a_tape_that_can_not_be_lifted_is_a_finding(code: str, why: str) -> None:
    made = convert_source("import tensorflow as tf\nx = tf.Variable(2.0)\n" + code)
    assert [why in each.message for each in made.findings if each.rule == "tensorflow.GradientTape"] == [True]


def test_a_name_without_an_entry_is_a_finding_and_a_placeholder() -> None:
    made = convert_source("import tensorflow as tf\n\ndef f(x):\n    return tf.signal.stft(x, 4, 2)\n")
    assert [each.code for each in made.findings] == ["MF100"]
    assert 'tf = ms_keras.Missing("tensorflow"' in made.main and "import tensorflow" not in made.main


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ("tf.image.resize(x, (4, 4), 'area')", "Pillow"),
        ("keras.layers.TextVectorization(ragged=True)", "dense tensors"),
        ("keras.layers.TorchModuleWrapper(x)", "its own code"),
        ("keras.layers.Dense(3, lora_rank=2)", "low-rank layers"),
        ("keras.utils.load_img('a.png', keep_aspect_ratio=True)", "Pillow"),
        ("keras.preprocessing.image.ImageDataGenerator(data_format='channels_first')", "channels last"),
        ("tf.matmul(x, x, adjoint_b=True)", "transpose_b"),
        ("keras.applications.ResNet50(weights=None)", "--with keras"),
    ],
)
def test_an_option_that_the_helper_does_not_know_is_a_finding(call: str, advice: str) -> None:
    made = convert_source(f"import keras\nimport tensorflow as tf\n\ndef f(x):\n    return {call}\n")
    assert [(each.code, advice in each.advice) for each in made.findings] == [("MF101", True)], made.findings


@pytest.mark.parametrize(
    "call",
    [
        "keras.layers.MultiHeadAttention(2, 4, attention_axes=(1, 2))",
        "keras.layers.UpSampling2D(2, interpolation='bilinear')",
        "tf.image.resize(x, (4, 4), 'nearest', antialias=False)",
        "keras.optimizers.Adam(use_ema=False, clipnorm=1.0)",
        "keras.layers.LSTM(3, kernel_constraint='max_norm')",
        "keras.layers.UpSampling2D(2, interpolation='bicubic')",
        "keras.layers.EinsumDense('ab,bc->ac', 3, kernel_regularizer='l2')",
        "keras.optimizers.SGD(0.1, use_ema=True, gradient_accumulation_steps=2)",
        "keras.layers.ConvLSTM2D(3, 3)",
        "keras.layers.RandomFlip('horizontal')",
        "keras.layers.TextVectorization()",
    ],
)
def test_an_option_that_the_helper_knows_is_none(call: str) -> None:
    assert convert_source(f"import keras\nimport tensorflow as tf\n\ndef f(x):\n    return {call}\n").findings == ()


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("rank = 4\n", [True]),
        ("rank: int = 4\n", [True]),
        ("def net(rank=4):\n    ", [True]),
        ("def net(*, rank=4):\n    ", [True]),
        ("rank = None\n", []),
        ("import settings\nrank = settings.rank\n", []),
        ("def net(rank=None):\n    ", []),
        (
            "def net(rank=None):\n    return keras.layers.Dense(3, lora_rank=rank)\nnet(rank=8)\nrank = None\n",
            [True, True],
        ),
    ],
)
def test_an_option_that_a_name_holds_is_looked_up(before: str, found: list[bool]) -> None:
    made = convert_source(f"import keras\n{before}layer = keras.layers.Dense(3, lora_rank=rank)\n")
    assert ["lora_rank" in each.message for each in made.findings] == found


def test_functions_of_keras_ops_take_keras_own_keywords() -> None:
    code = "from keras import ops\n\ndef f(x):\n    y = ops.transpose(ops.reshape(x, newshape=(2, 3)), axes=(1, 0))\n"
    made = convert_source(code + "    return ops.moments(ops.clip(y, x_min=0.0, x_max=1.0), (0,), True)\n")
    assert made.findings == ()
    assert "ms_keras.tf_transpose(ms_keras.tf_reshape(x, shape=(2, 3)), perm=(1, 0))" in made.main
    assert (
        "tf_moments(ms_keras.tf_clip_by_value(y, clip_value_min=0.0, clip_value_max=1.0), (0,), keepdims=True)"
        in made.main
    )


def test_a_rules_page_is_of_its_own_framework() -> None:
    from click.testing import CliRunner

    from mindferry.cli.rules import command

    said = CliRunner().invoke(command, ["show", "keras.layers.Dense"]).output
    assert "TensorFlow's page" in said and "torch" not in said


def test_a_method_that_the_helper_lacks_is_a_finding() -> None:
    made = convert_source("from tensorflow import keras\nm = keras.Sequential([keras.layers.Dense(2)])\nm.to_json()\n")
    assert [each.rule for each in made.findings] == ["keras.Model.to_json"]


def test_code_of_tensorflow_1_is_one_finding_a_file() -> None:
    code = "import tensorflow as tf\nx = tf.placeholder(tf.float32)\nwith tf.Session() as s:\n    s.run(x)\n"
    made = convert_source(code)
    assert made.main == code and len(made.findings) == 1
    assert "TensorFlow 1" in made.findings[0].message and "tf_upgrade_v2" in made.findings[0].advice


def test_each_file_of_a_project_with_both_goes_by_its_own_table(tmp_path: Path) -> None:
    project = tmp_path / "both"
    project.mkdir()
    (project / "a.py").write_text("import torch\n\ndef f(x):\n    return torch.relu(x)\n")
    (project / "b.py").write_text("import tensorflow as tf\n\ndef f(x):\n    return tf.nn.relu(x)\n")
    result = convert_project(project, tmp_path / "out")
    assert [found for file in result.files for found in file.findings] == []
    assert "ops.relu(x)" in (tmp_path / "out/a.py").read_text()
    assert "ms_keras.tf_relu(x)" in (tmp_path / "out/b.py").read_text()
    assert (tmp_path / "out/ms_keras.py").is_file()


def test_code_of_keras_own_folder_converts_as_code_of_a_project() -> None:
    code = """from keras.src import backend
from keras.src import layers
from keras.src.api_export import keras_export
from keras.src.models import Functional
from keras.src.ops import operation_utils
from keras.src.utils import file_utils


@keras_export(["keras.applications.Net"])
def Net(input_tensor=None, weights=None, name="net"):
    if not (weights is None or file_utils.exists(weights)):
        raise ValueError(weights)
    axis = 1 if backend.image_data_format() == "channels_first" else -1
    with backend.name_scope("stem"):
        given = input_tensor if backend.is_keras_tensor(input_tensor) else layers.Input((8, 8, 3))
        x = layers.BatchNormalization(axis=axis, name=f"norm_{backend.get_uid('norm')}")(layers.Conv2D(4, 3)(given))
    inputs = operation_utils.get_source_inputs(input_tensor) if input_tensor is not None else given
    return Functional(inputs, x, name=name)
"""
    made = convert_source(code)
    assert made.findings == ()
    assert "return ms_keras.Model(inputs, x, name=name)" in made.main and "keras.src" not in made.main
    space: dict[str, Any] = {}
    exec(compile(made.code, "net.py", "exec"), space)
    net = space["Net"]()
    assert net.output.shape == (None, 6, 6, 4) and [each.name for each in net.layers[1:]] == ["conv2d", "norm_1"]
    again = space["Net"](input_tensor=space["Input"]((8, 8, 3)))
    assert len(again.inputs) == 1 and again.layers[2].name == "norm_2"


def test_a_file_that_imports_both_is_a_finding_and_not_silence() -> None:
    code = "import torch\nimport tensorflow as tf\n\ndef f(x, y):\n    return torch.relu(x), tf.nn.relu(y)\n"
    made = convert_source(code)
    assert [(each.code, each.line, "file of its own" in each.advice) for each in made.findings] == [("MF101", 2, True)]
    assert "ops.relu(x), tf.nn.relu(y)" in made.main
    optional = "import torch\ntry:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\n\ndef f(x):\n    return torch.relu(x)\n"
    assert convert_source(optional).findings == ()


def test_the_same_name_in_several_places_is_one() -> None:
    for spelled in ("tf.keras.layers.Dense", "keras.layers.Dense", "tf.python.keras.layers.core.Dense"):
        made = convert_source(f"import tensorflow as tf\nimport keras\nlayer = {spelled}(3)\n")
        assert "layer = ms_keras.Dense(3)" in made.main, spelled


def test_modules_under_other_names_are_the_helpers() -> None:
    code = """import tensorflow as tf
keras, layers = tf.keras, tf.keras.layers
K = keras.backend
net = keras.Sequential([layers.Dense(3), layers.Lambda(lambda x: K.abs(x))])
"""
    made = convert_source(code)
    assert made.findings == ()
    assert "keras, layers = ms_keras, ms_keras\nK = ms_keras\n" in made.main
    assert [each.code for each in convert_source(code + "print(layers)\n").findings] == ["MF102"] * 3


def test_what_a_class_sets_itself_is_no_method_of_keras() -> None:
    code = """import keras
class Mine(keras.losses.Loss):
    def __init__(self, **settings):
        super().__init__(**settings)
        self.mae = keras.losses.MeanAbsoluteError()
    def call(self, y_true, y_pred):
        return self.mae(y_true, y_pred)
"""
    assert convert_source(code).findings == ()
    other = code.replace("self.mae(", "self.not_there(")
    assert [each.code for each in convert_source(other).findings] == ["MF100"]


@pytest.mark.parametrize(
    ("call", "code", "severity"),
    [
        ("tf.keras.mixed_precision.set_global_policy('mixed_float16')", "MF110", "warning"),
        ("tf.keras.mixed_precision.set_global_policy(tf.keras.mixed_precision.Policy(name))", "MF110", "warning"),
        ("tf.keras.backend.set_floatx('float64')", "MF110", "warning"),
        ("tf.distribute.MirroredStrategy()", "MF110", "note"),
        ("tf.keras.backend.set_image_data_format('channels_first')", "MF101", "error"),
        ("tf.ragged.constant([[1], [2, 3]])", "MF101", "error"),
        ("tf.keras.models.load_model('net.keras')", "MF101", "error"),
    ],
)
def test_what_is_computed_otherwise_is_said(call: str, code: str, severity: str) -> None:
    found = convert_source(f"import tensorflow as tf\nx = {call}\n").findings
    assert [(each.code, each.severity, each.line) for each in found] == [(code, severity, 2)]


def test_a_third_derivative_is_told_where_tapes_may_be_around_each_other() -> None:
    inner = "def slope(x):\n    with tf.GradientTape() as t:\n        t.watch(x)\n        y = x * x\n    return t.gradient(y, x)\n"
    middle = inner.replace("slope", "curve").replace("x * x", "{0}")
    outer = "def step(w):\n    with tf.GradientTape() as t:\n        loss = {1}\n    return t.gradient(loss, w)\n"
    text = "import tensorflow as tf\n\n" + inner + middle + outer
    pairs = [("slope(x)", "curve(w)"), ("slope(x)", "slope(w)"), ("x * x", "curve(w)"), ("x * x", "w * w")]
    said = [convert_source(text.format(*each)).findings for each in pairs]
    assert [[each.code for each in found] for found in said] == [["MF101"], [], [], []]


def test_assigning_to_a_part_of_a_variable_keeps_the_whole_and_to_one_of_a_list_does_not() -> None:
    head = "import tensorflow as tf\n\ntable = tf.Variable(tf.zeros((3, 3)))\n"
    parts = "table[0, 1:].assign([5.0, 6.0])\nheld[i].assign_add(g)\nnet.weights[0].assign(x)\n"
    made = convert_source(head + parts)
    assert made.findings == ()
    assert "ms_keras.assign_part(table, (0, slice(1, None, None),), [5.0, 6.0])" in made.main
    assert "ms_keras.assign_add(held[i], g)" in made.main
    assert "ms_keras.assign(net.weights[0], x)" in made.main


def test_load_model_of_a_file_that_the_script_does_not_save_is_a_finding() -> None:
    made = convert_source("import keras\nnet = keras.models.load_model('bought.keras')\n")
    (found,) = made.findings
    assert "is not written by this script" in found.message and "load_weights" in found.advice


@pytest.mark.parametrize("saving", ["net.save('a.keras')", "keras.callbacks.ModelCheckpoint('a.keras')"])
def test_load_model_of_a_file_that_the_script_saves_is_converted(saving: str) -> None:
    made = convert_source(
        f"import keras\nnet = keras.Sequential()\n{saving}\nnet = keras.saving.load_model('a.keras')\n"
    )
    assert made.findings == () and "ms_keras.load_model('a.keras')" in made.main


def test_a_method_that_a_data_set_s_helper_has_not_is_a_finding_wherever_the_data_set_comes_from() -> None:
    code = """import tensorflow as tf

rows = tf.data.Dataset.from_generator(make, output_types=tf.float32).batch(2)
kept = rows.rejection_resample(len, [0.5, 0.5])
count = rows.cardinality().numpy()
"""
    made = convert_source(code)
    assert [found.line for found in made.findings] == [4]
