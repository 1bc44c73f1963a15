"""Parts of transformers that are left behind while only its own machinery asks for them."""
