"""Bills with their shares: (id, cents, weights, shares); None stands for ValueError."""

CASES = [
    ("criterion_1_order", 100, [1, 3, 1], [20, 60, 20]),
    ("criterion_1_one_person", 77, [5], [77]),
    ("criterion_2_rounded_down", 1000, [1, 2, 4], [143, 286, 571]),
    ("criterion_2_not_nearest", 10, [6, 6, 6, 6, 6, 6, 4], [2, 2, 2, 1, 1, 1, 1]),
    ("criterion_3_largest_cut", 11, [5, 3, 1], [6, 4, 1]),
    ("criterion_3_ties_go_first", 2, [1, 1, 1, 1], [1, 1, 0, 0]),
    ("criterion_3_ties_after_larger", 5, [2, 3, 2, 3], [1, 2, 1, 1]),
    ("criterion_3_few_cents", 3, [9, 1, 1, 9], [2, 0, 0, 1]),
    ("criterion_3_nothing_to_pay", 0, [4, 4], [0, 0]),
    ("criterion_3_exact", 10**18, [1, 1, 1], [333333333333333334, 333333333333333333, 333333333333333333]),
    (
        "criterion_3_large_cut",
        999999999999999989,
        [3, 7, 11],
        [142857142857142855, 333333333333333330, 523809523809523804],
    ),
    ("criterion_4_weight_0", 10, [0, 3, 0, 3, 3], [0, 4, 0, 3, 3]),
    ("criterion_4_one_pays", 9, [0, 1, 0], [0, 9, 0]),
    ("criterion_5_empty", 10, [], None),
    ("criterion_5_all_0", 0, [0, 0], None),
]
