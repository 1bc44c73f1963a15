"""Writing: edits become text, with its imports, helpers, comments, styles and notebooks."""
