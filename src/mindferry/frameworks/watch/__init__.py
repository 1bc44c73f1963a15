"""The folder that a watched process finds first on its PYTHONPATH; nothing in it needs mindferry or a framework."""
