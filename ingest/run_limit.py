"""How large one run may be: it is kept in memory whole, unlike the file that it stands in.

A file may be larger than memory, since its runs come and go. A run is one graph: its actions
are put into one order and joined with each other. Read and built, it takes two to three times
its own size; :data:`RUN_BYTES` keeps that under 1 GiB. Who has more memory raises the limit
with the environment variable ``MASGRAPH_RUN_MIB``.
"""

import os

from graphstore.errors import UsageError

RUN_BYTES = 320 << 20
"""The most bytes of records that one run may have."""

VARIABLE = "MASGRAPH_RUN_MIB"


def run_bytes() -> int:
    """The most bytes of records that one run may have, on this machine.

    Raises:
        UsageError: The environment variable is no whole number of MiB.
    """
    said = os.environ.get(VARIABLE)
    if not said:
        return RUN_BYTES
    if not said.isdecimal() or not 0 < int(said) < 2**30:
        raise UsageError(f"{VARIABLE} must be a whole number of MiB: it is {said!r}")
    return int(said) << 20


def too_large(limit: int) -> str:
    """Why a run is not read.

    Args:
        limit: In bytes.
    """
    return (
        f"the run holds more than {limit >> 20} MiB, and a run is kept in memory whole: set "
        f"{VARIABLE} to more where there is memory for about three times its size"
    )
