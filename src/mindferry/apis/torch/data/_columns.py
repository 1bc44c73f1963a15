"""What a DataLoader yields, where the pass over data pipelines could tell; the rule asks."""

from __future__ import annotations

import ast
from weakref import WeakKeyDictionary

# A DataLoader call -> the names of the columns in its batches.
COLUMNS: WeakKeyDictionary[ast.AST, tuple[str, ...]] = WeakKeyDictionary()
