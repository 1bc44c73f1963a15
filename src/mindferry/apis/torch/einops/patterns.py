"""einops.rearrange, reduce, repeat, einsum, pack and the layers: patterns stay as they are."""

from __future__ import annotations

from ..._call import Call
from ..._rule import Case, rule


def _helper(name: str, args: str, to: str, *cases: Case) -> None:
    """Signatures are einops' own, so the helper also serves where the function is a value."""
    rule(f"einops.{name}", to=f"compat.{to}", args=args, like=f"compat.{to}", cases=list(cases))


_helper(
    "rearrange",
    "tensor pattern",
    "rearrange",
    Case(
        "einops.rearrange(x, 'b (h d) n -> b h n d', h=2)",
        "ms_compat.rearrange(x, 'b (h d) n -> b h n d', h=2)",
        shapes=((2, 6, 5),),
    ),
    Case(
        "einops.rearrange(x, 'b c (h p) (w q) -> b (h w) (p q c)', p=2, q=3)",
        "ms_compat.rearrange(x, 'b c (h p) (w q) -> b (h w) (p q c)', p=2, q=3)",
        shapes=((2, 3, 4, 6),),
    ),
    Case("einops.rearrange(x, '... c -> c ...')", "ms_compat.rearrange(x, '... c -> c ...')", shapes=((2, 3, 4),)),
    Case(
        "einops.rearrange(x, 'b (h d) ... -> b h (...) d', h=2)",
        "ms_compat.rearrange(x, 'b (h d) ... -> b h (...) d', h=2)",
        shapes=((2, 8, 3, 5),),
    ),
    Case(
        "einops.rearrange(x, 'b ... c -> (b ...) c')",
        "ms_compat.rearrange(x, 'b ... c -> (b ...) c')",
        shapes=((2, 3, 4, 5),),
    ),
    Case("einops.rearrange(x, '... -> (...)')", "ms_compat.rearrange(x, '... -> (...)')", shapes=((2, 3, 4),)),
    Case("einops.rearrange(x, 'd -> 1 1 d ()')", "ms_compat.rearrange(x, 'd -> 1 1 d ()')", shapes=((5,),)),
    Case(
        "einops.rearrange([x, y], 's b c -> b (s c)')",
        "ms_compat.rearrange([x, y], 's b c -> b (s c)')",
        shapes=((2, 3), (2, 3)),
    ),
)
_helper(
    "reduce",
    "tensor pattern reduction",
    "reduce",
    Case(
        "einops.reduce(x, 'b c h w -> b c', 'mean')",
        "ms_compat.reduce(x, 'b c h w -> b c', 'mean')",
        shapes=((2, 3, 4, 5),),
    ),
    Case(
        "einops.reduce(x, 'b (n p) -> b p', 'max', p=3)",
        "ms_compat.reduce(x, 'b (n p) -> b p', 'max', p=3)",
        shapes=((2, 12),),
    ),
    Case(
        "einops.reduce(x, 'b c h -> c ()', 'sum')", "ms_compat.reduce(x, 'b c h -> c ()', 'sum')", shapes=((2, 3, 4),)
    ),
    Case(
        "einops.reduce(x, 'b c (h 2) (w 2) -> b c h w', 'mean')",
        "ms_compat.reduce(x, 'b c (h 2) (w 2) -> b c h w', 'mean')",
        shapes=((2, 3, 4, 6),),
    ),
    Case("einops.reduce(x, 'b ... -> b', 'min')", "ms_compat.reduce(x, 'b ... -> b', 'min')", shapes=((2, 3, 4),)),
    Case(
        "einops.reduce(x, '... c -> (...)', 'sum')", "ms_compat.reduce(x, '... c -> (...)', 'sum')", shapes=((2, 3, 4),)
    ),
    Case("einops.reduce(x, 'a b c -> b', 'prod')", "ms_compat.reduce(x, 'a b c -> b', 'prod')", shapes=((2, 3, 2),)),
)
_helper(
    "repeat",
    "tensor pattern",
    "repeat",
    Case("einops.repeat(x, '1 n d -> b n d', b=3)", "ms_compat.repeat(x, '1 n d -> b n d', b=3)", shapes=((1, 4, 5),)),
    Case("einops.repeat(x, 'd -> b d r', b=3, r=2)", "ms_compat.repeat(x, 'd -> b d r', b=3, r=2)", shapes=((5,),)),
    Case("einops.repeat(x, 'h w -> (2 h) w 3')", "ms_compat.repeat(x, 'h w -> (2 h) w 3')", shapes=((3, 4),)),
    Case("einops.repeat(x, '... -> ... 2')", "ms_compat.repeat(x, '... -> ... 2')", shapes=((3, 4),)),
    Case("einops.repeat(x, 'h w -> (h r) w', r=2)", "ms_compat.repeat(x, 'h w -> (h r) w', r=2)", shapes=((3, 4),)),
)
_helper(
    "einsum",
    "",
    "einops_einsum",
    Case(
        "einops.einsum(x, y, 'batch i d, batch j d -> batch i j')",
        "ms_compat.einops_einsum(x, y, 'batch i d, batch j d -> batch i j')",
        shapes=((2, 3, 4), (2, 5, 4)),
    ),
)
_helper(
    "pack",
    "tensors pattern",
    "pack",
    Case("einops.pack([x, y], 'b * d')[0]", "ms_compat.pack([x, y], 'b * d')[0]", shapes=((2, 3, 4), (2, 4))),
)
_helper(
    "unpack",
    "tensor packed_shapes pattern",
    "unpack",
    Case(
        "einops.unpack(x, [(2,), (), (-1, 2)], 'b * d')",
        "ms_compat.unpack(x, [(2,), (), (-1, 2)], 'b * d')",
        shapes=((2, 7, 3),),
    ),
)
_helper(
    "parse_shape",
    "x pattern",
    "parse_shape",
    Case("x * einops.parse_shape(x, 'b _ c')['c']", "x * ms_compat.parse_shape(x, 'b _ c')['c']", shapes=((2, 3, 4),)),
)


@rule("einops.asnumpy", args="tensor", cases=[Case("einops.asnumpy(x)", "x.asnumpy()", shapes=((2,),), gradient=False)])
def asnumpy(call: Call) -> None:
    call.replace(f"{call.text('tensor')}.asnumpy()")


rule(
    "einops.layers.torch.Rearrange",
    to="compat.Rearrange",
    args="pattern",
    like="compat.Rearrange",
    cases=[
        Case(
            "einops.layers.torch.Rearrange('b c h w -> b (h w) c')",
            "ms_compat.Rearrange('b c h w -> b (h w) c')",
            shapes=((2, 3, 4, 5),),
        )
    ],
)
rule(
    "einops.layers.torch.Reduce",
    to="compat.Reduce",
    args="pattern reduction",
    like="compat.Reduce",
    cases=[
        Case(
            "einops.layers.torch.Reduce('b n d -> b d', 'mean')",
            "ms_compat.Reduce('b n d -> b d', 'mean')",
            shapes=((2, 3, 4),),
        )
    ],
)
rule(
    "einops.layers.torch.EinMix",
    to="compat.EinMix",
    args="pattern weight_shape bias_shape",
    like="compat.EinMix",
    params={"weight": "weight", "bias": "bias"},
    cases=[
        Case(
            "einops.layers.torch.EinMix('b n c -> b n d', 'c d', 'd', c=4, d=3)",
            "ms_compat.EinMix('b n c -> b n d', 'c d', 'd', c=4, d=3)",
            shapes=((2, 3, 4),),
        ),
        Case(
            "einops.layers.torch.EinMix('t ... (h c) -> ... (h d)', weight_shape='h c d t', h=2, c=2, d=3, t=2)",
            "ms_compat.EinMix('t ... (h c) -> ... (h d)', weight_shape='h c d t', h=2, c=2, d=3, t=2)",
            shapes=((2, 3, 4),),
        ),
    ],
)
