"""peft.utils."""
