"""What stands in for names of a part that is left behind: see only_for.toml. One file a part."""
