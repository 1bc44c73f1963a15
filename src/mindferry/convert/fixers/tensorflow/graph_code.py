"""Code of TensorFlow 1, with placeholders and sessions: the file stays as it is, with one finding."""

from __future__ import annotations

import ast

from .... import findings
from ....apis.tensorflow._old_graphs import ADVICE, is_of_graphs
from ....artifacts import Finding
from ....read.infer import Reading


def refuse_graph_code(reading: Reading) -> Finding | None:
    """The finding for the first such name."""
    source, symbols = reading.source, reading.symbols
    found: list[tuple[int, str]] = []
    for node in (*source.of(ast.Attribute), *source.of(ast.Name)):
        kind = reading.type(node)
        qual = symbols.origin(kind.qual) if kind.kind == "ref" else ""
        if qual and not symbols.is_local(qual) and is_of_graphs(qual):
            found.append((source.start(node), qual))
    if not found:
        return None
    start, qual = min(found)
    line, column = source.position(start)
    message = f"{qual} is TensorFlow 1: the file builds a graph and runs it in a session, so it stays as it is"
    return Finding(findings.MF101, "error", source.path, line, column + 1, message, ADVICE, qual)
