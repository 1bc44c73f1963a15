"""What a user did wrong, said in one sentence. The command line prints it and exits with code 2; no traceback."""


class MindferryError(Exception):
    """Bad input or a missing prerequisite. The message names the thing and says what to do next."""
