"""Parts of transformers.models."""
