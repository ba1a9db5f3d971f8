"""How much memory a process took."""

import re
import resource
import sys
from pathlib import Path


def peak_of_this_process() -> float:
    """MiB that this process held at most, the interpreter included."""
    status = Path("/proc/self/status")
    if status.exists():
        # What getrusage says on Linux counts the process that started this one.
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        return int(found[1]) / 1024 if found else float("nan")
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
