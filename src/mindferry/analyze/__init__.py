"""What a project uses and what of it converts, by reading; nothing of it is imported or run."""

from .inventory import analyze_project as analyze_project
