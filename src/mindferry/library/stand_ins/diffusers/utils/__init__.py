"""Parts of diffusers.utils."""
