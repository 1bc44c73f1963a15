"""Parts of sentence_transformers.util."""
