"""Parts of libraries that rest on torch's own files and processes, written anew: each stands in for what has its name there."""
