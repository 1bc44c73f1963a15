"""Parts of transformers.models.auto."""
