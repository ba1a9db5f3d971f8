"""The pages, in the order of the navigation."""

from app.dashboard.page import View
from app.dashboard.pages import (
    compare,
    cypher,
    forests,
    ingest,
    motifs,
    overview,
    runs,
    trajectories,
)

VIEWS: tuple[View, ...] = (
    View(
        "",
        "Overview",
        ":material/dashboard:",
        "What is in the store, how it ended, and how far it can be trusted.",
        overview.show,
    ),
    View(
        "runs",
        "Runs",
        ":material/forum:",
        "Who told whom what: find a run and open it.",
        runs.show,
    ),
    View(
        "compare",
        "Compare",
        ":material/compare_arrows:",
        "Methods on the tasks that they share, or two runs action by action.",
        compare.show,
    ),
    View(
        "motifs",
        "Motifs",
        ":material/schema:",
        "Patterns that recur, what they are made of, and where they occur.",
        motifs.show,
    ),
    View(
        "forests",
        "Forests",
        ":material/forest:",
        "The ways that work, and where runs stand beside them.",
        forests.show,
    ),
    View(
        "trajectories",
        "Trajectories and interventions",
        ":material/trending_up:",
        "What collaboration gained, what changes of a team do, and which measure notices them.",
        trajectories.show,
    ),
    View(
        "cypher",
        "Cypher",
        ":material/terminal:",
        "Ask the store: the saved questions, or your own. Nothing can be written.",
        cypher.show,
    ),
    View(
        "ingest",
        "Ingest",
        ":material/upload_file:",
        "Drop files, see what was read and what was not.",
        ingest.show,
    ),
)
