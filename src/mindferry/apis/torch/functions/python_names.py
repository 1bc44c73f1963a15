"""What torch passes on from Python itself and from tqdm: the names are taken from where they come from."""

from ... import Case, rule

WHY = "Python's own, nothing is computed"
# Of processes; those that start some are left (missing.tsv), for a forked MindSpore hangs.
SHARED = "Array Barrier BoundedSemaphore Condition Event JoinableQueue Lock Manager Pipe Queue RLock Semaphore SimpleQueue Value"
ASKED = "active_children cpu_count current_process freeze_support get_start_method parent_process"

for _name, _to in (
    *((f"torch.multiprocessing.{each}", f"multiprocessing.{each}") for each in f"{SHARED} {ASKED}".split()),
    ("torch._utils._accumulate", "itertools.accumulate"),
    ("torch.utils.model_zoo.tqdm", "tqdm.tqdm"),
):
    rule(_name, to=_to, like=_to, cases=[Case(_name, _to, runs=False, why=WHY)])
