"""Where a training step goes, what to change, and what each change does: measured before and after."""
