"""Damages the example files of every format ten thousand times, and reads what is left.

What counts as a mistake of a reader stands in :mod:`tests.ingest.fuzzing`; the tests try a
small, fixed part of the same.

    python -m benchmarks.fuzz_readers --count 10000 --keep /tmp/broken
"""

import argparse
import hashlib
import sys
from pathlib import Path

from ingest.registry import BUILT_IN
from tests.ingest.fuzzing import examples, fuzz


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=10_000, help="damaged files a reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", action="append", help="only this reader; repeat")
    parser.add_argument("--keep", type=Path, help="a folder for files that broke a reader")
    options = parser.parse_args()
    failed = 0
    print(
        f"{'format':24}{'tried':>8}{'graphs':>8}{'rejected':>10}{'refused':>9}{'slowest s':>11}"
    )
    for format in options.format or BUILT_IN:
        if not examples(format):
            print(f"{format:24} has no example")
            failed += 1
            continue
        found = fuzz(format, options.count, options.seed)
        print(
            f"{format:24}{found.tried:8,}{found.graphs:8,}{found.rejected:10,}"
            f"{found.refused:9,}{found.slowest:11.3f}",
            flush=True,
        )
        for mistake, times in found.broken.most_common():
            failed += 1
            print(f"    {times:,} times {mistake}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                content = found.first[mistake]
                name = f"{format}-{hashlib.sha256(content).hexdigest()[:8]}"
                (options.keep / name).write_bytes(content)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
