"""DataLoader: a GeneratorDataset where what it yields is known, and a helper with torch's arguments where it is not."""

import ast

from ... import Case, rule
from ..._call import Call

IDLE = frozenset({"pin_memory", "pin_memory_device"})  # MindSpore has no such memory

WHY = "batches are compared in tests/data/test_loader.py"


@rule(
    "torch.utils.data.DataLoader",
    to="compat.DataLoader",
    args="dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last timeout worker_init_fn "
    "multiprocessing_context generator",
    like="compat.DataLoader",
    differs="more workers than half of the cores are not used; random numbers come from numpy, which mindspore.set_seed seeds",
    cases=[
        Case(
            "torch.utils.data.DataLoader(d, batch_size=4)", "ms_compat.DataLoader(d, batch_size=4)", runs=False, why=WHY
        ),
        Case(
            "torch.utils.data.DataLoader(d, batch_size=4, pin_memory=True, num_workers=2)",
            "ms_compat.DataLoader(d, batch_size=4, num_workers=2)",
            runs=False,
            why=WHY,
        ),
        Case(
            "torch.utils.data.DataLoader(d, 4, True, collate_fn=f)",
            "ms_compat.DataLoader(d, 4, True, collate_fn=f)",
            runs=False,
            why=WHY,
        ),
    ],
)
def data_loader(call: Call) -> None:
    for name in IDLE - call.reading.symbols.mentioned:
        if isinstance(call.given.get(name), ast.Constant):
            call.set(**{name: None})
    if not call.noted:  # the columns of its batches, where a fixer could tell
        return
    generator = [call.text("dataset"), "[" + ", ".join(f'"{each}"' for each in call.noted) + "]"]
    if call.literal("shuffle", False):
        generator.append(f"sampler={call.name('compat.EpochSampler')}({call.text('dataset')})")
    else:
        generator.append("shuffle=False")
    workers = call.literal("num_workers", 0)
    count = "1" if workers == 0 else f"{call.name('compat.parallel_workers')}({call.text('num_workers')})"
    generator.append(f"num_parallel_workers={count}")
    batch = [call.text("batch_size", "1")]
    if call.has("drop_last"):
        batch.append(f"drop_remainder={call.text('drop_last')}")
    arguments, end = ", ".join(generator), f").batch({', '.join(batch)})"
    if len(arguments) > 70:
        line = call.edits.source.indent(call.node)
        indent = line[: len(line) - len(line.lstrip())]
        arguments = f"\n{indent}    {arguments},\n{indent}"
    call.replace(f"{call.name('mindspore.dataset.GeneratorDataset')}({arguments}{end}")
