"""torch's compilers. Converted code runs uncompiled first; ms.jit is one decorator away once it is verified."""

from ... import Case, rule
from ..._call import Call

PLAIN = "not compiled: decorate it with ms.jit once it is verified"


def _returns_first(api: str, before: str, after: str, differs: str = PLAIN) -> None:
    """A wrapper that is not needed. Decorators go altogether (the pass `no_counterpart`)."""

    @rule(
        api,
        args="obj",
        like="compat.uncompiled",
        differs=differs,
        cases=[
            Case(before, after, runs=False, why="the function itself"),
            Case(api, "ms_compat.uncompiled", runs=False, why="the function itself"),
        ],
    )
    def first(call: Call) -> None:
        given = list(call.given.values())
        if given:
            call.replace(call.of(given[0]))
        else:
            call.replace(call.name("compat.uncompiled"))


for _api, _more in (
    ("torch.compile", ", mode='max-autotune'"),
    ("torch.jit.script", ""),
    ("torch.jit.trace", ", x"),
    ("torch.jit.optimize_for_inference", ""),
    ("torch.jit.freeze", ""),
):
    _returns_first(_api, f"{_api}(nn.Sigmoid(){_more})", "nn.Sigmoid()")
for _api in (
    "torch.jit.ignore",
    "torch.jit.unused",
    "torch.jit.export",
    "torch.jit.script_if_tracing",
    "torch.jit._script_if_tracing",
    "torch.jit.script_method",
    "torch.jit._overload_method",
    "torch.jit.interface",
    "torch.compiler.disable",
    "torch.compiler.allow_in_graph",
    "torch._dynamo.disable",
    "torch._dynamo.allow_in_graph",
    "torch._dynamo.optimize",
):
    _returns_first(_api, f"{_api}(len)", "len", "marks a function for torch's compiler")

for _api in (
    "torch.jit.is_scripting",
    "torch.jit.is_tracing",
    "torch.compiler.is_compiling",
    "torch._dynamo.is_compiling",
    "torch.compiler.is_dynamo_compiling",
    "torch.onnx.is_in_onnx_export",
    "torch._dynamo.utils.is_compile_supported",
    "torch.jit.is_scripting_or_tracing",
    "torch._C._is_tracing",
    "torch.overrides.has_torch_function_unary",
    "torch.overrides.has_torch_function",
):

    @rule(
        _api,
        differs="torch's compilers don't exist in MindSpore",
        cases=[Case(f"{_api}()", "False", runs=False, why="False outside of a compiler")],
    )
    def never(call: Call) -> None:
        call.replace("False")


@rule(
    "torch.fx.wrap",
    args="fn_or_name",
    like="compat.uncompiled",
    differs="marks a function for torch's tracer",
    cases=[
        Case("torch.fx.wrap('len')", "None", runs=False, why="no value"),
        Case("torch.fx.wrap(len)", "len", runs=False, why="the function itself"),
    ],
)
def wrap(call: Call) -> None:
    call.replace("None" if isinstance(call.literal("fn_or_name"), str) else call.text("fn_or_name"))


@rule(
    "torch.jit.annotate",
    args="the_type the_value",
    cases=[Case("torch.jit.annotate(Tensor, x) * 2", "x * 2", shapes=((2, 3),))],
)
def annotate(call: Call) -> None:
    call.replace(call.text("the_value"))


@rule(
    "torch.jit.Attribute",
    args="value type",
    cases=[Case("torch.jit.Attribute(x, Tensor)", "x", shapes=((2, 3),), runs=False, why="a wrapper")],
)
def attribute(call: Call) -> None:
    call.replace(call.text("value"))


rule(
    "torch.jit.Final",
    to="typing.Final",
    like="typing.Final",
    cases=[Case("torch.jit.Final", "typing.Final", runs=False, why="an annotation")],
)
rule(
    "torch.jit.ScriptModule",
    to="mindspore.nn.Cell",
    like="mindspore.nn.Cell",
    cases=[
        Case("torch.jit.ScriptModule", "nn.Cell", runs=False, why="a base class"),
    ],
)
rule(
    "torch.jit.TracerWarning",
    to="UserWarning",
    like="UserWarning",
    cases=[
        Case("torch.jit.TracerWarning", "UserWarning", runs=False, why="a class of warnings"),
    ],
)
for _name in ("List", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3"):
    rule(
        f"torch.jit.annotations.{_name}",
        to="list",
        like="list",
        cases=[
            Case(f"torch.jit.annotations.{_name}", "list", runs=False, why="an annotation"),
        ],
    )


@rule(
    "torch._assert",
    args="condition message",
    like="compat.assert_true",
    cases=[
        Case(
            "torch._assert(x.dim() == 2, 'two')",
            "ms_compat.assert_true(x.ndim == 2, 'two')",
            shapes=((2, 3),),
            runs=False,
            why="no value",
        ),
    ],
)
def check(call: Call) -> None:
    if not call.has("condition") or not _is_statement(call):
        call.use_like()
        return
    parts = [call.text(name) for name in ("condition", "message") if call.has(name)]
    call.replace("assert " + ", ".join(f"({part})" if "\n" in part else part for part in parts))


def _is_statement(call: Call) -> bool:
    """Whether the call stands alone on its lines."""
    source = call.edits.source
    start, end = source.start(call.node), source.end(call.node)
    after = source.data[end : source.line_end(end)].strip()
    return not source.data[source.line_start(start) : start].strip() and (not after or after.startswith(b"#"))


@rule(
    "torch.onnx.export",
    args="model args f",
    differs="fewer operators are covered than by torch's exporter",
    cases=[
        Case(
            "torch.onnx.export(nn.Sigmoid(), x, 'net.onnx', opset_version=11)",
            "ms.export(nn.Sigmoid(), x, file_name='net.onnx', file_format='ONNX')",
            shapes=((2, 3),),
            runs=False,
            why="writes a file",
        ),
    ],
)
def onnx_export(call: Call) -> None:
    if not all(call.has(name) for name in ("model", "args", "f")):
        call.leave(
            "the model, its inputs and the file are needed",
            "write ms.export(net, x, file_name=..., file_format='ONNX')",
        )
        return
    inputs = call.text("args") if call.kind("args").is_tensor else f"*{call.text('args')}"
    call.replace(
        f"{call.name('mindspore.export')}({call.text('model')}, {inputs}, file_name={call.text('f')}, file_format='ONNX')"
    )


FX = "MindSpore has no public symbolic tracer"
for _name in (
    "symbolic_trace",
    "Proxy",
    "GraphModule",
    "Graph",
    "Node",
    "Tracer",
    "Interpreter",
    "Transformer",
    "replace_pattern",
    "node.map_arg",
    "node.Node",
    "node.Target",
    "proxy.Proxy",
    "proxy.GraphAppendingTracer",
    "graph_module._CodeOnlyModule",
    "graph_module._copy_attr",
    "graph_module._USER_PRESERVED_ATTRIBUTES_KEY",
):
    rule(
        f"torch.fx.{_name}",
        missing=FX,
        strategy="wrapper",
        advice="change the network's cells directly, or use a forward hook",
    )
rule(
    "torch.jit.load",
    missing="TorchScript files hold torch's own graph",
    strategy="equivalent",
    advice="export the converted network with ms.export and load it with nn.GraphCell(ms.load(path))",
)
rule(
    "torch.jit.save",
    missing="TorchScript is torch's own format",
    strategy="equivalent",
    advice="use ms.export(net, x, file_name='net', file_format='MINDIR')",
)
for _name in (
    "_export",
    "dynamo_export",
    "ExportOptions",
    "register_custom_op_symbolic",
    "symbolic_helper.parse_args",
    "TrainingMode",
    "OperatorExportTypes",
    "TensorProtoDataType",
    "operators.shape_as_tensor",
    "symbolic_opset11.select",
    "symbolic_opset11.squeeze",
    "symbolic_opset11.unsqueeze",
):
    rule(
        f"torch.onnx.{_name}",
        missing="torch's ONNX exporter has no counterpart of this",
        strategy="equivalent",
        advice="use ms.export(net, x, file_name='net', file_format='ONNX')",
    )
