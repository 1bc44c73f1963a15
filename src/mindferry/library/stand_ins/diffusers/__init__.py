"""Parts of diffusers."""
