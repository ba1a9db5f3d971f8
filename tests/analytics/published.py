"""Numbers that papers print: facts to hold our formulas against."""

# OpenMAS-GCom, Table 2: strict exact match in percent, thousands of tokens a task, and the
# percentage per 1,000 tokens.
OPENMAS_TABLE_2 = {
    "GoAgent": (50.25, 26.47, 1.90),
    "VeriMap": (29.50, 4.73, 6.24),
    "DeepSeek": (26.75, 5.94, 4.50),
    "AutoGen": (23.50, 3.39, 6.93),
    "BigMAS": (19.25, 11.65, 1.65),
    "GPTSwarm": (15.50, 3.84, 4.04),
    "SparseCT": (15.25, 4.30, 3.55),
    "GDesigner": (14.50, 6.35, 2.28),
    "EIB": (14.00, 5.20, 2.69),
    "GraphSearch": (14.00, 8.06, 1.74),
    "MADebate": (14.00, 3.80, 3.68),
    "ARGDes": (13.25, 7.05, 1.88),
    "Qwen": (13.25, 6.35, 2.09),
    "GraphR1": (10.75, 10.35, 1.04),
    "MASRouter": (10.75, 13.21, 0.81),
    "DyLAN": (4.50, 7.22, 0.62),
    "R-GFM": (2.25, 9.06, 0.25),
}

# OpenMAS-GCom, Table 17: strict exact match in percent over 400 tasks, and its error.
OPENMAS_TABLE_17 = {
    "DeepSeek": (26.75, 2.21),
    "Qwen": (13.25, 1.70),
    "AutoGen": (23.50, 2.12),
    "MADebate": (14.00, 1.73),
    "DyLAN": (4.50, 1.04),
    "GPTSwarm": (15.50, 1.81),
    "GDesigner": (14.50, 1.76),
    "SparseCT": (15.25, 1.80),
    "GraphSearch": (14.00, 1.73),
    "GraphR1": (10.75, 1.55),
    "R-GFM": (2.25, 0.74),
    "BigMAS": (19.25, 1.97),
    "MASRouter": (10.75, 1.55),
    "GoAgent": (50.25, 2.50),
    "VeriMap": (29.50, 2.28),
    "ARGDes": (13.25, 1.70),
    "EIB": (14.00, 1.73),
}

# MASTraceBench, Table 2: task score and collaboration gain on each benchmark.
MASTRACE_BENCHMARKS = (
    "MAPF",
    "OptionGen",
    "EvidenceChain",
    "Gomoku",
    "Negotiation",
    "TacticDuel",
)
MASTRACE_SINGLE_AGENT = (69.66, 80.56, 74.02, 50.00, 41.00, 50.00)
MASTRACE_TABLE_2 = {
    "Consistency": (
        (72.91, 3.25),
        (81.83, 1.27),
        (75.19, 1.17),
        (50.00, 0.00),
        (42.33, 1.33),
        (55.00, 5.00),
    ),
    "MAV": (
        (77.13, 7.47),
        (82.19, 1.63),
        (74.40, 0.38),
        (46.00, -4.00),
        (43.21, 2.21),
        (54.00, 4.00),
    ),
    "Int. Debate": (
        (77.31, 7.65),
        (83.70, 3.14),
        (77.94, 3.92),
        (80.00, 30.00),
        (44.08, 3.08),
        (64.00, 14.00),
    ),
    "Adv. Debate": (
        (67.50, -2.16),
        (81.32, 0.76),
        (65.83, -8.19),
        (48.00, -2.00),
        (43.28, 2.28),
        (21.00, -29.00),
    ),
    "Reflection": (
        (75.24, 5.58),
        (81.22, 0.66),
        (75.75, 1.73),
        (58.00, 8.00),
        (42.51, 1.51),
        (36.00, -14.00),
    ),
    "MAPR": (
        (76.33, 6.67),
        (84.03, 3.47),
        (77.81, 3.79),
        (72.00, 22.00),
        (44.75, 3.75),
        (35.00, -15.00),
    ),
    "AgentVerse": (
        (76.04, 6.38),
        (81.62, 1.06),
        (76.46, 2.44),
        (64.00, 14.00),
        (41.78, 0.78),
        (52.00, 2.00),
    ),
    "MAS-GPT": (
        (71.92, 2.26),
        (81.56, 1.00),
        (77.33, 3.31),
        (68.00, 18.00),
        (42.19, 1.19),
        (60.00, 10.00),
    ),
    "CLEARS": (
        (78.72, 9.06),
        (84.55, 3.99),
        (80.44, 6.42),
        (76.00, 26.00),
        (45.24, 4.24),
        (66.00, 16.00),
    ),
    "CLEARS w/o CCE": (
        (74.52, 4.86),
        (82.65, 2.09),
        (79.58, 5.56),
        (72.00, 22.00),
        (42.74, 1.74),
        (53.00, 3.00),
    ),
}

# OpenMAS-GCom, sections 4.E-4.H: reference score, modified score, points lost and percent
# retained, in percent; None where the paper does not print one.
OPENMAS_REWIRING = {
    "10%": (81.88, 81.21, None, None),
    "30%": (81.88, 79.54, None, None),
    "50%": (81.88, 77.21, None, None),
    "70%": (81.88, 74.99, 6.89, 91.59),
}
OPENMAS_REMOVAL = {
    "No critic": (81.88, 81.30, 0.58, None),
    "No specialist": (81.88, 78.30, 3.58, None),
    "Expert only": (81.88, 75.59, 6.29, None),
}
OPENMAS_CORRUPTION = {
    "MAD": (85.30, 44.41, None, 52.06),
    "VeriMap": (85.50, 54.59, None, 63.85),
}
OPENMAS_FAILURES = {
    "GoAgent": (84.22, 76.80, 7.42, None),
    "AutoGen": (83.82, 73.80, 10.02, None),
}

# OpenMAS-GCom, Table 14: the paper prints code b, but its own formula gives another number.
OPENMAS_MISPRINT = ("Qwen", "PubMedQA", 80.70, 3000, 1.25, 0.72)

# MAC-Bench, Table 9: goals passed (allocation, finance, appointments, handover) and progress
# score in percent.
MACBENCH_TABLE_9 = {
    "Reference": ((True, True, True, True), 100),
    "Stale handover": ((True, True, True, False), 75),
    "Repaired handover": ((True, True, True, True), 100),
    "Remove allocation": ((False, True, False, False), 25),
    "Remove finance": ((True, False, True, False), 50),
    "Remove appointments": ((True, True, False, False), 50),
}

# MAC-Bench, appendix D.4: goals passed of all, and progress score in percent.
MACBENCH_D4 = {
    "university conflict": (5, 6, 83.3),
    "riverbank conflict": (4, 5, 80.0),
    "Lark tokens": (4, 5, 80.0),
    "Jinja arguments": (3, 5, 60.0),
}

# MAC-Bench, Table 7: objects of a relation between agents; inconsistent ones at the first
# comparable state and at the end.
MACBENCH_TABLE_7 = {
    "Radio rights -> text": (24, 24, 24),
    "Market eligibility -> handover": (84, 72, 72),
    "Market allocation -> inspections": (48, 39, 39),
    "Radio schedule -> staffing": (12, 12, 12),
    "Conservation schedule -> staffing": (32, 0, 0),
    "Training bookings -> calendar": (20, 11, 6),
}
