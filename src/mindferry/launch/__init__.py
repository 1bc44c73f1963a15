"""A converted script on several processes, through msrun: job.py says what to start, run.py starts and watches it."""

from .job import Job, msrun_lines, plan
from .run import Outcome, launch

__all__ = ["Job", "Outcome", "launch", "msrun_lines", "plan"]
