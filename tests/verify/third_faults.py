"""Planted faults in the third, fourth and fifth set of networks, read from a table each; see faults.py."""

from __future__ import annotations

import csv
from pathlib import Path

if __package__:
    from . import fifth_twins as last
    from . import fourth_twins as more
    from . import sixth_twins as newest
    from . import third_twins as nets
    from .fault import Fault
else:  # run as a script
    import fifth_twins as last
    import fourth_twins as more
    import sixth_twins as newest
    import third_twins as nets
    from fault import Fault

TABLE = Path(__file__).with_suffix(".tsv")  # a line break in code is written \n there
TWINS = (
    *(nets.RECURRENT, nets.SPECTRAL, nets.EXPERTS, nets.TEACHER, nets.TIED, nets.QUANTIZER),
    *(more.BACKWARD, more.STREAM, more.FLOW, more.HYPER, more.BOXES, more.EDGES),
)


LAST = (last.LOW_RANK, last.TEXT, last.QUEUE, last.PYRAMID, last.FOLLOWER)


def read_faults(table: Path) -> tuple[Fault, ...]:
    twins = {twin.name: twin for twin in (*TWINS, *LAST, *newest.FIFTH)}
    with table.open() as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    found = []
    for network, name, *code, culprits in rows:
        before, after = (text.replace("\\n", "\n") for text in code)
        found.append(Fault(name, twins[network], before, after, tuple(culprits.split(","))))
    return tuple(found)


THIRD = read_faults(TABLE)
FOURTH = read_faults(TABLE.with_name("fourth_faults.tsv"))
FIFTH = read_faults(TABLE.with_name("fifth_faults.tsv"))
