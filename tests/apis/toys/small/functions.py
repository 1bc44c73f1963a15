"""Its entries."""

from mindferry.apis import Form, rule

rule("small.array", to="mindspore.Tensor", args="data")
rule("small.absolute", to="mindspore.ops.abs", args="input")
rule("small.Array.turned", to=".T", form=Form.ATTRIBUTE)
