"""The reference's own run -> Observation: types at unclear sites, networks, inputs, batches, losses, lines reached."""

from .run import Observed as Observed
from .run import observe as observe
from .run import split_commands as split_commands
