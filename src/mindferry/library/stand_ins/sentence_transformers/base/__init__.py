"""Parts of sentence_transformers.base."""
