"""The same training steps in both frameworks: same weights, same batches, dropout off; loss and weights side by side."""

from .side_by_side import train_side_by_side as train_side_by_side
