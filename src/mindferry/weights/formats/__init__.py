"""One module a file format, each with the same two verbs: read a file's entries, write a file from entries."""
