"""Attention and Transformer layers. Helpers keep torch's parameter names and its masks' meaning."""

from ... import Case, rule

X = ((5, 2, 8),)
rule(
    "torch.nn.MultiheadAttention",
    to="compat.MultiheadAttention",
    like="compat.MultiheadAttention",
    args="embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim batch_first device dtype",
    cases=[
        Case(
            "nn.MultiheadAttention(8, 2)",
            "ms_compat.MultiheadAttention(8, 2)",
            shapes=((5, 2, 8), (4, 2, 8), (4, 2, 8)),
        ),
        Case(
            "nn.MultiheadAttention(8, 2, batch_first=True, bias=False)",
            "ms_compat.MultiheadAttention(8, 2, batch_first=True, bias=False)",
            shapes=((2, 5, 8), (2, 4, 8), (2, 4, 8)),
        ),
        Case(
            "nn.MultiheadAttention(8, 2, kdim=3, vdim=6)",
            "ms_compat.MultiheadAttention(8, 2, kdim=3, vdim=6)",
            shapes=((5, 8), (4, 3), (4, 6)),
        ),
        Case(
            "nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True)",
            "ms_compat.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True)",
            inputs=("float32[5,2,8]", "float32[4,2,8]", "float32[4,2,8]"),
        ),
    ],
)
LAYER = "d_model nhead dim_feedforward dropout activation layer_norm_eps batch_first norm_first bias device dtype"
for name, shapes in (("TransformerEncoderLayer", X), ("TransformerDecoderLayer", ((5, 2, 8), (4, 2, 8)))):
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args=LAYER,
        like=f"compat.{name}",
        cases=[
            Case(f"nn.{name}(8, 2, 16, dropout=0.0)", f"ms_compat.{name}(8, 2, 16, dropout=0.0)", shapes=shapes),
            Case(
                f"nn.{name}(d_model=8, nhead=2, dim_feedforward=16, dropout=0, activation='gelu', norm_first=True, batch_first=True)",
                f"ms_compat.{name}(d_model=8, nhead=2, dim_feedforward=16, dropout=0, activation='gelu', norm_first=True, batch_first=True)",
                shapes=tuple((shape[1], shape[0], 8) for shape in shapes),
            ),
        ],
    )
rule(
    "torch.nn.TransformerEncoder",
    to="compat.TransformerEncoder",
    like="compat.TransformerEncoder",
    args="encoder_layer num_layers norm enable_nested_tensor mask_check",
    cases=[
        Case(
            "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), num_layers=2)",
            "ms_compat.TransformerEncoder(ms_compat.TransformerEncoderLayer(8, 2, 16, 0.0), num_layers=2)",
            shapes=X,
        ),
    ],
)
rule(
    "torch.nn.TransformerDecoder",
    to="compat.TransformerDecoder",
    like="compat.TransformerDecoder",
    args="decoder_layer num_layers norm",
    cases=[
        Case(
            "nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 2, nn.LayerNorm(8))",
            "ms_compat.TransformerDecoder(ms_compat.TransformerDecoderLayer(8, 2, 16, 0.0), 2, nn.LayerNorm((8,), epsilon=1e-5))",
            shapes=((5, 2, 8), (4, 2, 8)),
        ),
    ],
)
rule(
    "torch.nn.Transformer",
    to="compat.Transformer",
    like="compat.Transformer",
    args="d_model nhead num_encoder_layers num_decoder_layers dim_feedforward dropout activation custom_encoder custom_decoder layer_norm_eps "
    "batch_first norm_first bias device dtype",
    cases=[
        Case(
            "nn.Transformer(d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=2, dim_feedforward=16, dropout=0.0)",
            "ms_compat.Transformer(d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=2, dim_feedforward=16, dropout=0.0)",
            shapes=((5, 2, 8), (4, 2, 8)),
        ),
    ],
)
rule(
    "torch.nn.Transformer.generate_square_subsequent_mask",
    to="compat.causal_mask",
    args="sz device dtype",
    drop="device dtype",
    like="compat.causal_mask",
    cases=[
        Case("nn.Transformer.generate_square_subsequent_mask(3) + x", "ms_compat.causal_mask(3) + x", shapes=((3, 3),)),
    ],
)
rule(
    "torch.nn.modules.transformer._get_activation_fn",
    to="compat.activation_function",
    args="activation",
    like="compat.activation_function",
    cases=[
        Case(
            "torch.nn.modules.transformer._get_activation_fn('gelu')(x)",
            "ms_compat.activation_function('gelu')(x)",
            shapes=((3, 3),),
        ),
    ],
)
for name in ("create_block_mask", "flex_attention"):
    rule(
        f"torch.nn.attention.flex_attention.{name}",
        missing="MindSpore compiles no attention variants from Python functions",
        strategy="wrapper",
        advice="write the variant as a mask or bias for scaled_dot_product_attention",
    )
KERNELS = "MindSpore chooses its attention kernel itself: the same values"
rule(
    "torch.nn.attention.SDPBackend",
    to="compat.SDPBackend",
    like="compat.SDPBackend",
    differs=KERNELS,
    cases=[
        Case("torch.nn.attention.SDPBackend", "ms_compat.SDPBackend", runs=False, why="names of kernels"),
    ],
)
for name in ("ERROR", "MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "OVERRIDEABLE"):
    rule(
        f"torch.nn.attention.SDPBackend.{name}",
        to=f"compat.SDPBackend.{name}",
        like=f"compat.SDPBackend.{name}",
        differs=KERNELS,
        cases=[
            Case(
                f"torch.nn.attention.SDPBackend.{name}",
                f"ms_compat.SDPBackend.{name}",
                runs=False,
                why="the name of a kernel",
            ),
        ],
    )
rule(
    "torch.nn.attention.sdpa_kernel",
    to="compat.sdpa_kernel",
    args="backends set_priority",
    like="compat.sdpa_kernel",
    differs=KERNELS,
    cases=[
        Case(
            "torch.nn.attention.sdpa_kernel([])",
            "ms_compat.sdpa_kernel([])",
            runs=False,
            why="a context without effect",
        ),
    ],
)
