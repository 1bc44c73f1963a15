"""Parts of transformers.utils."""
