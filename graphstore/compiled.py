"""Machine code for inner loops, made on first use only.

A kernel is one plain Python function. Small inputs run it as it stands; large ones pay for
numba's import and compilation once. Both ways give the same integers.
"""

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def compiled(function: Callable[..., Any], *, threads: bool = False) -> Callable[..., Any]:
    """The function, compiled by numba; its machine code is kept on disk where that works.

    Args:
        function: A module-level function of scalars and numpy arrays.
        threads: Whether it lets other threads run meanwhile.
    """
    import numba

    try:
        result: Callable[..., Any] = numba.njit(cache=True, nogil=threads)(function)
    except RuntimeError:
        # No folder for the cache can be written: compile in each process instead.
        result = numba.njit(nogil=threads)(function)
    return result
