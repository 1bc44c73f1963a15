"""The networks that are tried: name, what builds it, what it is given."""

from __future__ import annotations

from .network import Network
from .vision import of_timm, of_torchvision

IDS = {"input_ids": "int[2,7]"}
PIXELS = {"pixel_values": "float[2,3,32,32]"}
TEXT = "vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, max_position_embeddings=64"
GROUPED = f"{TEXT}, num_key_value_heads=2"
VISION = "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, image_size=32, patch_size=8"
PAIRED = "vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=37, decoder_ffn_dim=37, max_position_embeddings=64"
MOE = f"{GROUPED.replace('37', '32')}, num_experts=4, num_local_experts=4, num_experts_per_tok=2, moe_intermediate_size=16"


def _hf(
    name: str, head: str, settings: str, batch: dict[str, str], take: str = "found[0]", config: str = ""
) -> Network:
    """A model of transformers by its class and its configuration."""
    config = config or f"{name}Config"
    build = f"{name}{head}({config}({settings}, attn_implementation='eager'))"
    return Network(
        "transformers", f"{name}{head}", f"from transformers import {config}, {name}{head}", build, batch, take
    )


CAUSAL = (
    "Llama",
    "Mistral",
    "Qwen2",
    "Gemma",
    "Gemma2",
    "Phi3",
    "Olmo",
    "Olmo2",
    "StableLm",
    "Starcoder2",
    "Cohere",
    "Granite",
    "Glm",
    "Qwen3",
    "SmolLM3",
    "Phi",
    "GPTNeoX",
    "Persimmon",
    "Helium",
    "Arcee",
    "Ernie4_5",
    "Glm4",
    "Seed",
    "Apertus",
    "Nemotron",
    "Exaone4",
    "HunYuanDenseV1",
    "BitNet",
    "Lfm2",
)
ENCODERS = (
    "Bert",
    "Roberta",
    "Electra",
    "Camembert",
    "XLMRoberta",
    "RoFormer",
    "Ernie",
    "LayoutLM",
    "MegatronBert",
    "MPNet",
    "Nystromformer",
    "DebertaV2",
    "Deberta",
    "ConvBert",
    "Albert",
    "BertGeneration",
    "Data2VecText",
    "RobertaPreLayerNorm",
    "Splinter",
    "Esm",
    "ModernBert",
    "MobileBert",
    "SqueezeBert",
    "Ibert",
    "RemBert",
    "Xmod",
    "Luke",
    "Mra",
    "Yoso",
    "EuroBert",
)
VISION_MODELS = (
    "ViT",
    "DeiT",
    "Beit",
    "Dinov2",
    "ViTMAE",
    "ViTMSN",
    "Dinov2WithRegisters",
    "IJepa",
    "Data2VecVision",
    "DINOv3ViT",
)
SEEDED = {"Seed": "SeedOss"}


def networks() -> list[Network]:
    found = []
    for name in CAUSAL:
        name = SEEDED.get(name, name)
        found.append(_hf(name, "ForCausalLM", f"{GROUPED}, head_dim=8, pad_token_id=0", IDS))
    for name in ENCODERS:
        more = {
            "MobileBert": ", embedding_size=16, true_hidden_size=16, intra_bottleneck_size=16",
            "Electra": ", embedding_size=16",
            "Albert": ", embedding_size=16",
            "SqueezeBert": ", embedding_size=32",
        }.get(name, "")
        found.append(_hf(name, "Model", f"{TEXT}{more}", IDS))
    for name in VISION_MODELS:
        batch = {**PIXELS, "noise": "float[2,16]"} if name == "ViTMAE" else PIXELS  # which patches it hides
        found.append(_hf(name, "Model", VISION, batch))
    gpt = "vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, n_inner=37"
    found += [
        _hf("GPT2", "LMHeadModel", gpt, IDS),
        _hf("GPTJ", "ForCausalLM", f"{gpt}, rotary_dim=4", IDS),
        _hf("CodeGen", "ForCausalLM", f"{gpt}, rotary_dim=4", IDS),
        _hf("OpenAIGPT", "Model", gpt, IDS),
        _hf("CTRL", "Model", f"{gpt}, dff=37", IDS),
        _hf("GPTBigCode", "ForCausalLM", gpt, IDS),
        _hf(
            "GPTNeo",
            "ForCausalLM",
            "vocab_size=99, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[['global', 'local'], 1]], max_position_embeddings=64, window_size=4",
            IDS,
        ),
        _hf("Bloom", "ForCausalLM", "vocab_size=99, hidden_size=32, n_layer=2, n_head=4", IDS),
        _hf("Falcon", "ForCausalLM", "vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4", IDS),
        _hf("Mpt", "ForCausalLM", "vocab_size=99, d_model=32, n_heads=4, n_layers=2, max_seq_len=64", IDS),
        _hf(
            "OPT",
            "ForCausalLM",
            "vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=37, max_position_embeddings=64, word_embed_proj_dim=32, pad_token_id=1",
            IDS,
        ),
        _hf(
            "XGLM",
            "ForCausalLM",
            "vocab_size=99, d_model=32, num_layers=2, attention_heads=4, ffn_dim=37, max_position_embeddings=64",
            IDS,
        ),
        _hf("BioGpt", "ForCausalLM", TEXT, IDS),
        _hf(
            "DistilBert",
            "Model",
            "vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=37, max_position_embeddings=64",
            IDS,
        ),
        _hf("XLM", "Model", "vocab_size=99, emb_dim=32, n_layers=2, n_heads=4, max_position_embeddings=64", IDS),
        _hf("XLNet", "Model", "vocab_size=99, d_model=32, n_layer=2, n_head=4, d_inner=37", IDS),
        _hf("Flaubert", "Model", "vocab_size=99, emb_dim=32, n_layers=2, n_heads=4, max_position_embeddings=64", IDS),
        _hf("Funnel", "Model", "vocab_size=99, d_model=32, block_sizes=[1, 1], n_head=4, d_head=8, d_inner=37", IDS),
        _hf("FNet", "Model", TEXT, IDS),
        _hf("Canine", "Model", f"{TEXT}, num_hash_buckets=50", {"input_ids": "int[2,16]"}),
        _hf("T5", "EncoderModel", "vocab_size=99, d_model=32, d_ff=37, d_kv=8, num_layers=2, num_heads=4", IDS),
        _hf(
            "T5",
            "Model",
            "vocab_size=99, d_model=32, d_ff=37, d_kv=8, num_layers=2, num_heads=4",
            {**IDS, "decoder_input_ids": "int[2,5]"},
        ),
        _hf(
            "MT5",
            "Model",
            "vocab_size=99, d_model=32, d_ff=37, d_kv=8, num_layers=2, num_heads=4",
            {**IDS, "decoder_input_ids": "int[2,5]"},
        ),
        _hf(
            "UMT5",
            "Model",
            "vocab_size=99, d_model=32, d_ff=37, d_kv=8, num_layers=2, num_heads=4",
            {**IDS, "decoder_input_ids": "int[2,5]"},
        ),
        _hf("Bart", "Model", PAIRED, {**IDS, "decoder_input_ids": "int[2,5]"}),
        _hf("MBart", "Model", PAIRED, {**IDS, "decoder_input_ids": "int[2,5]"}),
        _hf("Pegasus", "Model", PAIRED, {**IDS, "decoder_input_ids": "int[2,5]"}),
        _hf("Marian", "Model", f"{PAIRED}, pad_token_id=0", {**IDS, "decoder_input_ids": "int[2,5]"}),
        _hf("Blenderbot", "Model", PAIRED, {**IDS, "decoder_input_ids": "int[2,5]"}),
        _hf("BlenderbotSmall", "Model", PAIRED, {**IDS, "decoder_input_ids": "int[2,5]"}),
        _hf("M2M100", "Model", PAIRED, {**IDS, "decoder_input_ids": "int[2,5]"}),
        _hf(
            "LED",
            "Model",
            f"{PAIRED}, attention_window=4, max_encoder_position_embeddings=64, max_decoder_position_embeddings=64",
            {**IDS, "decoder_input_ids": "int[2,5]"},
        ),
        _hf(
            "Whisper",
            "Model",
            "vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=37, decoder_ffn_dim=37, max_source_positions=30, max_target_positions=20, num_mel_bins=8, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1",
            {"input_features": "float[2,8,60]", "decoder_input_ids": "int[2,5]"},
        ),
        _hf(
            "Wav2Vec2",
            "Model",
            "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, conv_dim=(16, 16), conv_stride=(4, 4), conv_kernel=(8, 8), num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2",
            {"input_values": "float[2,400]"},
        ),
        _hf(
            "Hubert",
            "Model",
            "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, conv_dim=(16, 16), conv_stride=(4, 4), conv_kernel=(8, 8), num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2",
            {"input_values": "float[2,400]"},
        ),
        _hf(
            "AST",
            "Model",
            "hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, patch_size=4, frequency_stride=4, time_stride=4, max_length=24, num_mel_bins=16",
            {"input_values": "float[2,24,16]"},
        ),
        _hf("CLIP", "TextModel", f"{TEXT}, eos_token_id=2", IDS, config="CLIPTextConfig"),
        _hf("CLIP", "VisionModel", VISION, PIXELS, config="CLIPVisionConfig"),
        _hf("Siglip", "VisionModel", VISION, PIXELS, config="SiglipVisionConfig"),
        _hf("Siglip", "TextModel", TEXT, IDS, config="SiglipTextConfig"),
        _hf(
            "ConvNext",
            "Model",
            "hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, patch_size=4, image_size=32",
            PIXELS,
        ),
        _hf(
            "ConvNextV2",
            "Model",
            "hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, patch_size=4, image_size=32",
            PIXELS,
        ),
        _hf("ResNet", "Model", "embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1]", PIXELS),
        _hf("RegNet", "Model", "embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], groups_width=8", PIXELS),
        _hf(
            "Swin",
            "Model",
            "image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 4], window_size=4",
            PIXELS,
        ),
        _hf(
            "Swinv2",
            "Model",
            "image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 4], window_size=4",
            PIXELS,
        ),
        _hf(
            "PoolFormer",
            "Model",
            "hidden_sizes=[8, 16], depths=[1, 1], num_encoder_blocks=2, patch_sizes=[7, 3], strides=[4, 2], padding=[2, 1]",
            PIXELS,
        ),
        _hf("MobileNetV1", "Model", "image_size=32, depth_multiplier=0.25", PIXELS),
        _hf("MobileNetV2", "Model", "image_size=32, depth_multiplier=0.25", PIXELS),
        _hf(
            "Segformer",
            "Model",
            "num_encoder_blocks=2, depths=[1, 1], hidden_sizes=[16, 32], num_attention_heads=[2, 4], sr_ratios=[2, 1], patch_sizes=[7, 3], strides=[4, 2], mlp_ratios=[2, 2]",
            PIXELS,
        ),
        _hf(
            "Cvt",
            "Model",
            "embed_dim=[16, 32], num_heads=[1, 2], depth=[1, 1], patch_sizes=[7, 3], patch_stride=[4, 2], patch_padding=[2, 1], mlp_ratio=[2.0, 2.0], attention_drop_rate=[0.0, 0.0], drop_rate=[0.0, 0.0], drop_path_rate=[0.0, 0.0], qkv_bias=[True, True], cls_token=[False, True], qkv_projection_method=['dw_bn', 'dw_bn'], kernel_qkv=[3, 3], padding_kv=[1, 1], stride_kv=[2, 2], padding_q=[1, 1], stride_q=[1, 1]",
            PIXELS,
        ),
        _hf("Mixtral", "ForCausalLM", MOE, IDS),
        _hf("Qwen2Moe", "ForCausalLM", f"{MOE}, shared_expert_intermediate_size=16", IDS),
        _hf("Qwen3Moe", "ForCausalLM", f"{MOE}, head_dim=8", IDS),
        _hf("Olmoe", "ForCausalLM", MOE, IDS),
        _hf("Mamba", "ForCausalLM", "vocab_size=99, hidden_size=16, state_size=4, num_hidden_layers=2, expand=2", IDS),
        _hf("FalconMamba", "ForCausalLM", "vocab_size=99, hidden_size=16, state_size=4, num_hidden_layers=2", IDS),
        _hf(
            "Rwkv",
            "ForCausalLM",
            "vocab_size=99, hidden_size=32, num_hidden_layers=2, attention_hidden_size=32, intermediate_size=37",
            IDS,
        ),
        _hf(
            "RecurrentGemma",
            "ForCausalLM",
            f"{TEXT}, lru_width=32, attention_window_size=8, num_key_value_heads=1",
            IDS,
        ),
        _hf("VideoMAE", "Model", f"{VISION}, num_frames=4, tubelet_size=2", {"pixel_values": "float[2,4,3,32,32]"}),
        _hf(
            "Vivit",
            "Model",
            "image_size=32, num_frames=4, tubelet_size=[2, 8, 8], hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37",
            {"pixel_values": "float[2,4,3,32,32]"},
        ),
        _hf("Timesformer", "Model", f"{VISION}, num_frames=4", {"pixel_values": "float[2,4,3,32,32]"}),
    ]
    return [*found, *of_timm(), *of_torchvision(), *of_other_libraries()]


SAMPLING = """    scheduler = {kind}(num_train_timesteps=100{more})
    scheduler.set_timesteps(3)
    sample = batch["sample"]
    for t in scheduler.timesteps:
        given = scheduler.scale_model_input(sample, t) if hasattr(scheduler, "scale_model_input") else sample
        sample = scheduler.step(model(given, t).sample, t, sample).prev_sample
    return sample
"""
UNET = "UNet2DModel(sample_size=8, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(8, 8), norm_num_groups=4, down_block_types=('DownBlock2D', 'AttnDownBlock2D'), up_block_types=('AttnUpBlock2D', 'UpBlock2D'))"
STEP = {"timestep": "int[2]"}
LATENT = {"hidden_states": "float[2,4,8,8]", "timestep": "int[2]"}
SPOKEN = {"encoder_hidden_states": "float[2,5,16]"}
TILED = "num_attention_heads=2, attention_head_dim=8, in_channels=4, num_layers=1, sample_size=8, patch_size=2"
DIFFUSERS = (
    (UNET, {"sample": "float[2,3,8,8]", **STEP}),
    (
        "UNet2DConditionModel(sample_size=8, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4, cross_attention_dim=16, attention_head_dim=4, down_block_types=('CrossAttnDownBlock2D', 'DownBlock2D'), up_block_types=('UpBlock2D', 'CrossAttnUpBlock2D'))",
        {"sample": "float[2,4,8,8]", **STEP, **SPOKEN},
    ),
    (
        "AutoencoderKL(in_channels=3, out_channels=3, latent_channels=4, block_out_channels=(8, 16), down_block_types=('DownEncoderBlock2D', 'DownEncoderBlock2D'), up_block_types=('UpDecoderBlock2D', 'UpDecoderBlock2D'), norm_num_groups=4, sample_size=16)",
        {"sample": "float[2,3,16,16]"},
    ),
    (
        f"DiTTransformer2DModel({TILED}, out_channels=8, num_embeds_ada_norm=100, norm_num_groups=4)",
        {**LATENT, "class_labels": "int[2]"},
    ),
    (
        f"PixArtTransformer2DModel({TILED}, out_channels=8, cross_attention_dim=16, caption_channels=16)",
        {**LATENT, **SPOKEN},
    ),
    (
        f"SD3Transformer2DModel({TILED}, out_channels=4, joint_attention_dim=16, caption_projection_dim=16, pooled_projection_dim=16, pos_embed_max_size=8)",
        {**LATENT, **SPOKEN, "pooled_projections": "float[2,16]"},
    ),
)
SCHEDULERS = (
    "DDIMScheduler",
    "PNDMScheduler",
    "EulerDiscreteScheduler",
    "DPMSolverMultistepScheduler",
    "UniPCMultistepScheduler",
    "LMSDiscreteScheduler",
    "HeunDiscreteScheduler",
    "FlowMatchEulerDiscreteScheduler",
)
SEGMENTING = ("Unet", "FPN", "DeepLabV3Plus")
LAYERS = "dim=32, depth=2, heads=2, attn_dim_head=16"


def of_other_libraries() -> list[Network]:
    found = []
    for build, batch in DIFFUSERS:
        name = build.partition("(")[0]
        found.append(Network("diffusers", name, f"from diffusers import {name}", build, batch, "found.sample"))
    for kind in SCHEDULERS:  # three steps of sampling
        more = ", skip_prk_steps=True" if kind == "PNDMScheduler" else ""  # otherwise it needs four
        loop = SAMPLING.format(kind=kind, more=more)
        imports = f"from diffusers import {kind}, UNet2DModel"
        found.append(Network("diffusers", kind, imports, UNET, {"sample": "float[1,3,8,8]"}, "found", loop))
    for kind in SEGMENTING:
        build = f"smp.{kind}('resnet18', encoder_weights=None, classes=2)"
        imports = "import segmentation_models_pytorch as smp"
        found.append(
            Network("segmentation_models_pytorch", kind, imports, build, {"": "float[2,3,64,64]"}, take="found")
        )
    for kind, more in (("Decoder", "rotary_pos_emb=True"), ("Encoder", "alibi_pos_bias=True, use_rmsnorm=True")):
        build = f"TransformerWrapper(num_tokens=99, max_seq_len=32, attn_layers={kind}({LAYERS}, {more}))"
        imports = f"from x_transformers import {kind}, TransformerWrapper"
        found.append(Network("x_transformers", kind, imports, build, {"": "int[2,7]"}, "found"))
    return found
