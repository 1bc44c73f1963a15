"""Which samples were being read when a worker process died."""

import mmap
import os
import signal
import struct
import sys
import time


class DeathWatch:
    """Where a worker process dies, MindSpore ends the whole program; a process of its own then says which samples were being read."""

    def __init__(self, workers, name):
        self.reading = mmap.mmap(
            -1, 16 * workers
        )  # for each worker: its process and the sample's number from 1, shared with all forks
        parent, self.watcher = os.getpid(), os.fork()
        if self.watcher == 0:
            while os.getppid() == parent:
                time.sleep(0.1)
            found = [struct.unpack_from("qq", self.reading, 16 * worker) for worker in range(workers)]
            samples = ", ".join(f"sample {number - 1} (process {process})" for process, number in found if number)
            if samples:
                os.write(
                    sys.stderr.fileno(),
                    f"A data worker died, and the program with it. Being read of {name}: {samples}\n".encode(),
                )
            os._exit(0)

    def note(self, worker, index):
        """In a worker: the sample that it begins to read, or None."""
        number = index + 1 if isinstance(index, int) else 0
        struct.pack_into("qq", self.reading, 16 * worker, os.getpid(), number)

    def end(self):
        os.kill(self.watcher, signal.SIGKILL)
        os.waitpid(self.watcher, 0)
