"""``python -m benchmarks``: measures, and writes docs/benchmarks.md.

Give names of modules to measure only those and to print their tables; with ``--page``, their
sections of the page are replaced.
"""

import argparse
import importlib
import sys

from benchmarks.page import replace_sections, write_page

MODULES = (
    "stores",
    "million",
    "dashboard",
    "reading",
    "reading_formats",
    "motifs",
    "k_medoids",
    "similarity",
)


def main() -> None:
    """Runs the modules that are named, or all of them for the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(MODULES))
    parser.add_argument("--scale", type=float, default=1.0, help="size of the inputs")
    parser.add_argument("--page", action="store_true", help="replace their sections")
    options = parser.parse_args()
    tables = []
    for name in options.modules or MODULES:
        sys.stderr.write(f"measuring {name}\n")
        for table in importlib.import_module(f"benchmarks.{name}").measure(options.scale):
            sys.stdout.write(table.markdown() + "\n")
            tables.append(table)
    if not options.modules:
        write_page(tables)
    elif options.page:
        replace_sections(tables)


if __name__ == "__main__":
    main()
