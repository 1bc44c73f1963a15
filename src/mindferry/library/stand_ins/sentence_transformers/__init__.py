"""Parts of sentence-transformers."""
