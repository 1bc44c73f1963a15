"""How well libraries come along: tiny networks of each, converted by --with, run in both frameworks and compared."""
