"""Map every parameter of torchvision's zoo and of transformers' architectures: `python benchmarks/weights_zoo.py`.

For each torch model a MindSpore model of the same structure is built: every layer that has a counterpart as that
counterpart, everything else as a cell with the same children, parameters and buffers. The model's names are then
matched to the cells of that twin, and again without any model. Writes docs/reference/weights.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("GLOG_v", "4")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from mindferry.weights.match import match
from mindferry.weights.structure import infer
from mindferry.weights.tree import Tree, describe
from mindferry.weights.usermap import UserMap

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "weights.md"
LOADED = 15_000_000  # models of at most so many values are also loaded, and every value compared

# Ten architectures and two more, as transformers builds them from their default configurations; and the sizes of a
# small one of each, for which there is memory and time to compare every value.
_SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
_PAIR = {
    "d_model": 64,
    **{f"{side}_layers": 2 for side in ("encoder", "decoder")},
    **{f"{side}_ffn_dim": 128 for side in ("encoder", "decoder")},
    **{f"{side}_attention_heads": 4 for side in ("encoder", "decoder")},
}
ARCHITECTURES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("BertConfig", "BertForMaskedLM", _SMALL),
    ("GPT2Config", "GPT2LMHeadModel", {"n_embd": 64, "n_layer": 2, "n_head": 4}),
    ("LlamaConfig", "LlamaForCausalLM", _SMALL | {"num_key_value_heads": 4}),
    (
        "T5Config",
        "T5ForConditionalGeneration",
        {"d_model": 64, "d_ff": 128, "num_layers": 2, "num_heads": 4, "d_kv": 16},
    ),
    ("BartConfig", "BartForConditionalGeneration", _PAIR),
    ("DistilBertConfig", "DistilBertForMaskedLM", {"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128}),
    ("ViTConfig", "ViTForImageClassification", _SMALL),
    ("CLIPConfig", "CLIPModel", {"text_config": _SMALL, "vision_config": _SMALL, "projection_dim": 32}),
    ("Wav2Vec2Config", "Wav2Vec2Model", _SMALL),
    ("WhisperConfig", "WhisperForConditionalGeneration", _PAIR),
    ("MistralConfig", "MistralForCausalLM", _SMALL | {"num_key_value_heads": 4}),
    ("DebertaV2Config", "DebertaV2Model", _SMALL),
)


@dataclass(frozen=True)
class Row:
    model: str
    tensors: int
    exact: int
    cell: int
    dropped: int
    tied: int
    left: int  # missing, unexpected or of another shape
    loaded: str
    guessed: int  # by pattern, without model and record
    wrong: int  # of those, named otherwise than the cells say


def twin(module: Any, seen: dict[int, Any]) -> Any:
    """A MindSpore cell of the same structure. `seen` keeps shared modules and tied parameters shared."""
    import mindspore as ms
    from mindspore import nn

    if id(module) in seen:
        return seen[id(module)]
    made = _layer(module, nn)
    if made is None:
        made = _container(module, nn, {name: twin(child, seen) for name, child in module.named_children()})
        for name, value in module.named_parameters(recurse=False):
            setattr(made, name, seen[id(value)] if id(value) in seen else _parameter(value, name))
        for name, value in module.named_buffers(recurse=False):
            if name not in module._non_persistent_buffers_set and value is not None:
                made.register_buffer(name, ms.Tensor(shape=tuple(value.shape), dtype=_dtype(value), init=_zero()))
    _tie(module, made, seen)
    seen[id(module)] = made
    return made


def _layer(module: Any, nn: Any) -> Any:
    """The counterpart of a torch layer, or None."""
    import torch.nn as tnn

    base = type(module).__bases__[0] if hasattr(module, "parametrizations") else type(module)
    has_bias = getattr(module, "bias", None) is not None
    for kind, build in _BUILDERS(tnn, nn).items():
        if issubclass(base, kind) and set(_own(module)) <= {"weight", "bias", *_STATISTICS, *_RECURRENT(module)}:
            return build(module, has_bias)
    return None


_STATISTICS = ("running_mean", "running_var", "num_batches_tracked", "in_proj_weight", "in_proj_bias")


def _RECURRENT(module: Any) -> tuple[str, ...]:
    return tuple(name for name in _own(module) if name.startswith(("weight_", "bias_", "original")))


def _own(module: Any) -> list[str]:
    return [name for name, _ in (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))]


def _BUILDERS(tnn: Any, nn: Any) -> dict[Any, Callable[[Any, bool], Any]]:
    def conv(kind: Any) -> Callable[[Any, bool], Any]:
        def build(m: Any, has_bias: bool) -> Any:
            size = m.kernel_size if len(m.kernel_size) > 1 else m.kernel_size[0]
            return kind(m.in_channels, m.out_channels, size, group=m.groups, has_bias=has_bias, pad_mode="valid")

        return build

    def norm(kind: Any) -> Callable[[Any, bool], Any]:
        return lambda m, _: kind(m.num_features, affine=m.affine)

    return {
        tnn.Conv1d: conv(nn.Conv1d),
        tnn.Conv2d: conv(nn.Conv2d),
        tnn.Conv3d: conv(nn.Conv3d),
        tnn.ConvTranspose2d: conv(nn.Conv2dTranspose),
        tnn.Linear: lambda m, has_bias: nn.Dense(m.in_features, m.out_features, has_bias=has_bias),
        tnn.BatchNorm1d: norm(nn.BatchNorm1d),
        tnn.BatchNorm2d: norm(nn.BatchNorm2d),
        tnn.BatchNorm3d: norm(nn.BatchNorm3d),
        tnn.LayerNorm: lambda m, _: nn.LayerNorm(tuple(m.normalized_shape)) if m.elementwise_affine else None,
        tnn.GroupNorm: lambda m, _: nn.GroupNorm(m.num_groups, m.num_channels, affine=m.affine),
        tnn.Embedding: lambda m, _: nn.Embedding(m.num_embeddings, m.embedding_dim),
        tnn.PReLU: lambda m, _: nn.PReLU(m.num_parameters),
        tnn.MultiheadAttention: lambda m, _: nn.MultiheadAttention(m.embed_dim, m.num_heads),
    }


def _container(module: Any, nn: Any, children: dict[str, Any]) -> Any:
    import torch.nn as tnn

    class Twin(nn.Cell):
        pass

    if type(module) is tnn.Sequential:
        return nn.SequentialCell(OrderedDict(children))  # by name: a slice of a Sequential keeps its numbers
    if type(module) is tnn.ModuleList:
        return nn.CellList(list(children.values()))
    made = Twin()
    for name, child in children.items():
        setattr(made, name, child)
    return made


def _parameter(value: Any, name: str) -> Any:
    import mindspore as ms

    return ms.Parameter(ms.Tensor(shape=tuple(value.shape), dtype=_dtype(value), init=_zero()), name=name)


def _dtype(value: Any) -> Any:
    import mindspore as ms

    return getattr(ms, str(value.dtype).removeprefix("torch.").replace("bool", "bool_"))


def _zero() -> Any:
    from mindspore.common.initializer import Zero

    return Zero()


def _tie(module: Any, cell: Any, seen: dict[int, Any]) -> None:
    """Where torch shares a parameter between two modules, share the cell's too."""
    names = {"weight": ("weight", "gamma", "embedding_table", "w"), "bias": ("bias", "beta")}
    for name, value in module.named_parameters(recurse=False):
        ours = next((n for n in names.get(name, (name,)) if n in dict(cell.parameters_and_names(expand=False))), None)
        if ours is None:
            continue
        if id(value) in seen and getattr(cell, ours) is not seen[id(value)]:
            setattr(cell, ours, seen[id(value)])
        seen[id(value)] = getattr(cell, ours)


def models(filters: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Every model without memory for its values, and the one to load values into, if there is a small enough one."""
    import torch

    sys.path.insert(0, str(ROOT / "tests" / "support"))
    import torchvision_ops  # noqa: F401  operators that the torchvision wheel doesn't bring
    from torchvision import models as zoo

    for name in zoo.list_models():
        if not filters or any(part in name for part in filters):
            extra = {"weights_backbone": None} if name.split("_")[0] in _WITH_BACKBONE else {}
            # RegNet computes its widths with tensors, which then need values.
            with torch.device("cpu" if name.startswith("regnet") else "meta"):
                model = zoo.get_model(name, weights=None, **extra)
            size = sum(value.numel() for value in model.parameters())
            yield f"torchvision {name}", model, model if size <= LOADED else None
    for config, name, sizes in ARCHITECTURES:
        if not filters or any(part in name for part in filters):
            import transformers

            with torch.device("meta"):
                model = getattr(transformers, name)(getattr(transformers, config)())
            model.tie_weights()
            yield f"transformers {name}", model, getattr(transformers, name)(getattr(transformers, config)(**sizes))


_WITH_BACKBONE = (
    "fasterrcnn",
    "maskrcnn",
    "keypointrcnn",
    "retinanet",
    "fcos",
    "ssd300",
    "ssdlite320",
    "deeplabv3",
    "fcn",
    "lraspp",
)


def row(name: str, model: Any, small: Any) -> Row:
    from mindspore.nn.utils import no_init_parameters

    with no_init_parameters():
        tree = describe(twin(model, {}))
    shapes = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    plan = match(tree, shapes)
    counts = Counter(move.how for move in (*plan.moves, *plan.aliases) for _ in move.sources)
    left = len(plan.missing) + len(plan.unexpected) + len(plan.mismatched)
    if left:
        print(
            name, "missing", plan.missing[:3], "unexpected", plan.unexpected[:3], plan.mismatched[:3], file=sys.stderr
        )
    guessed, wrong = _without_a_model(tree, shapes)
    loaded = _load(small) if small is not None else "-"
    return Row(
        name,
        len(shapes),
        counts["exact"],
        counts["cell"],
        len(plan.dropped),
        len(plan.aliases),
        left,
        loaded,
        guessed,
        wrong,
    )


def _without_a_model(tree: Tree, shapes: dict[str, tuple[int, ...]]) -> tuple[int, int]:
    """How many names come by pattern when only the file is there, and how many of all come out wrong."""
    known = match(tree, shapes)
    truth = {source: (move.path, move.target) for move in (*known.moves, *known.aliases) for source in move.sources}
    found = infer(shapes, UserMap(), None, reverse=False)
    guessed = sum(move.how == "pattern" for move in found.moves)
    wrong = [m for m in found.moves if m.target not in truth.get(m.sources[0], ())]
    return guessed, len(wrong)


def _load(model: Any) -> str:
    """Give the model random values, load them into a twin with memory, compare every value."""
    import numpy as np
    import torch

    from mindferry import load_torch_weights

    if any(value.is_meta for value in model.parameters()):
        model = model.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for value in (*model.parameters(), *model.buffers()):
            if value.is_floating_point():
                value.copy_(torch.rand(value.shape, generator=generator))
            else:
                value.zero_()
    cell = twin(model, {})
    state = model.state_dict()
    report = load_torch_weights(cell, state)
    places = cell.state_dict()
    by_name = {getattr(place, "name", path): place for path, place in places.items()} | places
    folded = Counter(entry.target for entry in report.entries if "parametrizations" in entry.source)
    for entry in report.entries:
        if entry.target not in folded:
            ours, theirs = by_name[entry.target].asnumpy(), state[entry.source].numpy()
            if not np.array_equal(ours.reshape(theirs.shape), theirs):
                return "differs"
    return "equal"


HEAD = """# Names of parameters: what was shown

<!-- Written by `python benchmarks/weights_zoo.py`. Do not edit. -->

Every model of torchvision's zoo and {count} architectures of transformers, as built from their configurations, against a
MindSpore model of the same structure: each layer that has a counterpart in `mindspore.nn` is that counterpart, everything
else is a cell with the same children, parameters and buffers. Torch's names were matched to the cells of that twin.

- **tensors**: entries of the state dict. **exact**: same name and shape. **cell**: renamed or reshaped because of the
  cell's class. **dropped**: `num_batches_tracked`. **tied**: second names of shared tensors, counted under exact or cell too.
- **left**: missing, unexpected or of another shape. Nothing is matched by pattern when the model is given.
- **loaded**: torchvision's models of at most {loaded} million values, and a small one of each of transformers'
  architectures, were also loaded with random values, and every value compared (folded weight norms excepted).
- **guessed** and **wrong**: what happens without the model and without a conversion record, from the file alone: names
  by pattern (the command lists them), and how many names then differ from the model's. The patterns were written with
  these models at hand, so other models can fare worse.

What this does not show: the models that `mindferry convert` writes from these sources. Their cells can differ from the
twins where the converter emits a helper of its own; a helper keeps torch's names, which match exactly, or derives from
MindSpore's layer, by which it is known.

**{models} models, {tensors} tensors: {left} left over with the model given; {guessed} guessed and {wrong} wrong without it.**

| model | tensors | exact | cell | dropped | tied | left | loaded | guessed | wrong |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |
"""


def page(rows: list[Row]) -> str:
    head = HEAD.format(
        count=sum(row.model.startswith("transformers") for row in rows),
        loaded=LOADED // 1_000_000,
        models=len(rows),
        tensors=sum(row.tensors for row in rows),
        left=sum(row.left for row in rows),
        guessed=sum(row.guessed for row in rows),
        wrong=sum(row.wrong for row in rows),
    )
    lines = (
        f"| {r.model} | {r.tensors} | {r.exact} | {r.cell} | {r.dropped} | {r.tied} | {r.left} | {r.loaded} | {r.guessed} | {r.wrong} |"
        for r in rows
    )
    return head + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "filters", nargs="*", help="only models whose name holds one of these; the page is then not written"
    )
    options = parser.parse_args()
    rows = []
    for name, model, small in models(options.filters):
        rows.append(row(name, model, small))
        print(*rows[-1].__dict__.values(), file=sys.stderr, flush=True)
    if not options.filters:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(rows), "utf-8")
    sys.exit(1 if any(row.left or row.loaded == "differs" for row in rows) else 0)


if __name__ == "__main__":
    main()
