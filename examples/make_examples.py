"""Plays the example teams and writes what they did: ``python examples/make_examples.py``.

The same seed gives the same bytes on every machine. ``--check`` writes nothing: it plays
again and compares with the files that are there.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Beside the script lie the teams, above it the packages: from whatever folder it runs.
sys.path[:0] = [str(HERE), str(HERE.parent)]

from teams import chain, debate, orchestrator, single  # noqa: E402
from teams.problems import TASKS  # noqa: E402
from teams.stage import EPOCH, Play  # noqa: E402
from teams.task import Task  # noqa: E402
from teams.writers import native, otlp, whowhen  # noqa: E402

SEED = 7
REPETITIONS = 3
BETWEEN_RUNS = 10 * 60 * 1_000_000_000
"""A new run begins every ten minutes, in nanoseconds."""

Team = Callable[[Task, int, int, int], Play]
TEAMS: dict[str, Team] = {
    single.METHOD: single.play,
    chain.METHOD: chain.play,
    debate.METHOD: debate.play,
    orchestrator.METHOD: orchestrator.play,
}
FOLDERS = ("traces", "decompositions")


def play_all(seed: int = SEED) -> list[Play]:
    """All runs, team by team, task by task."""
    plays: list[Play] = []
    for team in TEAMS.values():
        for task in TASKS:
            for repetition in range(1, REPETITIONS + 1):
                begins = EPOCH + len(plays) * BETWEEN_RUNS
                plays.append(team(task, repetition, seed, begins))
    return plays


def make_files(seed: int = SEED) -> dict[str, bytes]:
    """Every file of the examples, by its path below this folder."""
    by_method: dict[str, list[Play]] = {name: [] for name in TEAMS}
    for play in play_all(seed):
        by_method[play.method].append(play)
    led = by_method[orchestrator.METHOD]
    files = {
        "traces/single.jsonl": native.run_lines(by_method[single.METHOD]),
        "traces/debate.jsonl": native.run_lines(by_method[debate.METHOD]),
        "traces/chain.otlp.ndjson": otlp.lines(by_method[chain.METHOD]),
        # The last repetition keeps what the logs' shape has no place for: tools, times, tokens.
        "traces/orchestrator.jsonl": native.run_lines(
            [play for play in led if play.repetition == REPETITIONS]
        ),
        "decompositions/plans.jsonl": native.decomposition_lines(TASKS),
    }
    for play in led:
        if play.repetition < REPETITIONS:
            name = f"traces/orchestrator/{play.task.name}-{play.repetition}.json"
            files[name] = whowhen.log_bytes(play)
    return files


def differences(files: dict[str, bytes], folder: Path) -> list[str]:
    """One sentence for each file that is missing, different, or not ours."""
    found = []
    for name, content in files.items():
        path = folder / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif path.read_bytes() != content:
            found.append(f"{name} differs")
    there = {
        path.relative_to(folder).as_posix()
        for part in FOLDERS
        for path in (folder / part).rglob("*")
        if path.is_file()
    }
    found += [f"{name} is made by no run" for name in sorted(there - files.keys())]
    return found


def table(plays: list[Play]) -> str:
    """What the kinds of team reached and cost, for people."""
    head = ("team", "runs", "success", "score", "tokens in", "tokens out", "actions", "seconds")
    rows = [head]
    for name in TEAMS:
        mine = [play for play in plays if play.method == name]
        count = len(mine)
        rows.append(
            (
                name,
                str(count),
                f"{sum(play.verdict.right for play in mine) / count:.2f}",
                f"{sum(play.verdict.score for play in mine) / count:.2f}",
                f"{sum(play.tokens_in for play in mine) / count:.0f}",
                f"{sum(play.tokens_out for play in mine) / count:.0f}",
                f"{sum(len(play.actions) for play in mine) / count:.1f}",
                f"{sum(play.latency for play in mine) / count:.1f}",
            )
        )
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def main(arguments: list[str] | None = None) -> int:
    """Runs the script; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=SEED, help="the teams' source of chance")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder to write to")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args(arguments)
    files = make_files(options.seed)
    if options.check:
        found = differences(files, options.out)
        print("\n".join(found) or f"{len(files)} files are as the script makes them")
        return 1 if found else 0
    for name, content in files.items():
        path = options.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    size = sum(map(len, files.values()))
    print(f"{len(files)} files, {size:,} bytes, in {options.out}")
    print(table(play_all(options.seed)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
