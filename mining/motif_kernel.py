"""The inner loop of the motif search: one plain function, for numba or for Python itself."""

from typing import Any

PAIR_FLAG = 1 << 58
"""Set in the keys of patterns of two nodes."""

KEYS_FULL = -1
ROWS_FULL = -2

_ORDERS = (0, 1, 2, 0, 2, 1, 1, 0, 2, 1, 2, 0, 2, 0, 1, 2, 1, 0)


def enumerate_sets(
    labels: Any,
    starts: Any,
    targets: Any,
    codes: Any,
    reach: Any,
    width: int,
    table_orders: Any,
    table_relations: Any,
    pairs: bool,
    triples: bool,
    limit: int,
    keys: Any,
    counts: Any,
    rows: Any,
    sets: Any,
    near_first: Any,
    near_second: Any,
) -> int:
    """Counts the patterns of all connected sets of two and three nodes.

    A key packs the ranks of the labels (15 bits each) above the relations (4 bits each), in
    canonical order, so that keys sort as the patterns do.

    Args:
        labels: For each node, the rank of its label among the graph's sorted labels.
        starts: Where each node's neighbours begin in ``targets``; one entry more than nodes.
        targets: Neighbours, ascending for each node.
        codes: For each entry of ``targets``, 1 for an edge, plus 3 where coupled.
        reach: Bits, ``width`` bytes a node: which nodes a path leads to.
        width: 0 where longer paths are not looked at.
        table_orders: From :func:`mining.canonical.order_table`.
        table_relations: Likewise.
        pairs: Whether sets of two count.
        triples: Whether sets of three count.
        limit: How many sets of a pattern to keep, -1 for all.
        keys: Hash table to fill: -1 everywhere, a power of two long.
        counts: Zeros, as long.
        rows: Receives the slot of each kept set.
        sets: Receives the nodes of each kept set in canonical order; shape (rows, 3).
        near_first: Zeros, one a node.
        near_second: Likewise.

    Returns:
        Number of kept sets, or :data:`KEYS_FULL` or :data:`ROWS_FULL` where the tables are
        too small.
    """
    mask = len(keys) - 1
    used = 0
    kept = 0
    for first in range(len(labels)):
        for place in range(starts[first], starts[first + 1]):
            near_first[targets[place]] = codes[place]
        for step in range(starts[first], starts[first + 1]):
            second = targets[step]
            if second < first:
                continue
            if triples:
                for place in range(starts[second], starts[second + 1]):
                    near_second[targets[place]] = codes[place]
            # Phase 0: the pair alone. Phase 1: a third node that also touches the first.
            # Phase 2: a third node that only the second touches.
            for phase in range(3):
                if phase == 0:
                    begin, end = 0, 1 if pairs else 0
                elif not triples:
                    begin, end = 0, 0
                elif phase == 1:
                    begin, end = step + 1, starts[first + 1]
                else:
                    begin, end = starts[second], starts[second + 1]
                for place in range(begin, end):
                    if phase == 0:
                        code = codes[step]
                        if width and code % 3 == 0:
                            bit = reach[first * width + (second >> 3)] >> (second & 7) & 1
                            code += 2 * bit
                        precedence = code % 3
                        a, b, c = first, second, -1
                        if labels[first] > labels[second]:
                            a, b = second, first
                            if precedence:
                                precedence += 2
                        key = (
                            PAIR_FLAG
                            | labels[a] << 19
                            | labels[b] << 4
                            | (precedence + 5 * (code // 3))
                        )
                    else:
                        third = targets[place]
                        if phase == 2 and (third <= first or near_first[third] != 0):
                            continue
                        x, y, z = first, second, third
                        code_xy, code_xz = near_first[second], near_first[third]
                        code_yz = near_second[third]
                        if third < second:
                            y, z = third, second
                            code_xy, code_xz = code_xz, code_xy
                        if width:
                            if code_xy % 3 == 0:
                                code_xy += 2 * (reach[x * width + (y >> 3)] >> (y & 7) & 1)
                            if code_xz % 3 == 0:
                                code_xz += 2 * (reach[x * width + (z >> 3)] >> (z & 7) & 1)
                            if code_yz % 3 == 0:
                                code_yz += 2 * (reach[y * width + (z >> 3)] >> (z & 7) & 1)
                        one, two, three = labels[x], labels[y], labels[z]
                        row = 1 if one == two else (2 if one > two else 0)
                        row = row * 3 + (1 if one == three else (2 if one > three else 0))
                        row = row * 3 + (1 if two == three else (2 if two > three else 0))
                        row = ((row * 6 + code_xy) * 6 + code_xz) * 6 + code_yz
                        order = 3 * table_orders[row]
                        a = _ORDERS[order]
                        b = _ORDERS[order + 1]
                        c = _ORDERS[order + 2]
                        a = x if a == 0 else (y if a == 1 else z)
                        b = x if b == 0 else (y if b == 1 else z)
                        c = x if c == 0 else (y if c == 1 else z)
                        key = (
                            labels[a] << 42
                            | labels[b] << 27
                            | labels[c] << 12
                            | table_relations[row]
                        )
                    slot = (key ^ key >> 13 ^ key >> 29 ^ key >> 43) & mask
                    while keys[slot] != key and keys[slot] != -1:
                        slot = (slot + 1) & mask
                    if keys[slot] == -1:
                        used += 1
                        if 2 * used > mask:
                            return KEYS_FULL
                        keys[slot] = key
                    if limit < 0 or counts[slot] < limit:
                        if kept == len(rows):
                            return ROWS_FULL
                        rows[kept] = slot
                        sets[kept, 0] = a
                        sets[kept, 1] = b
                        sets[kept, 2] = c
                        kept += 1
                    counts[slot] += 1
            if triples:
                for place in range(starts[second], starts[second + 1]):
                    near_second[targets[place]] = 0
        for place in range(starts[first], starts[first + 1]):
            near_first[targets[place]] = 0
    return kept


def group_sets(rows: Any, sets: Any, following: Any, grouped: Any) -> None:
    """Puts kept sets of one pattern side by side, in the order in which they were found.

    Args:
        rows: For each set, the slot of its pattern.
        sets: The sets; shape (rows, 3).
        following: For each slot, where its next set goes; changed in place.
        grouped: Receives the sets.
    """
    for place in range(len(rows)):
        at = following[rows[place]]
        following[rows[place]] = at + 1
        grouped[at, 0] = sets[place, 0]
        grouped[at, 1] = sets[place, 1]
        grouped[at, 2] = sets[place, 2]
