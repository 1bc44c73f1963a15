"""Parts of transformers.integrations."""
