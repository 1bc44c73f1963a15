"""Parts of transformers."""
