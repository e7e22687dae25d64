"""Judge for stock_journal: runs the script on journals that the agent has not seen; all must come out right."""
import json
import tempfile
from pathlib import Path

from deepgym_solution import read_output, run_solution

# id, which names the criterion: journal, stock
JOURNALS = {
    "criterion_1_totals": ("in bolt 40|in nut 25|out bolt 15|in bolt 2|in Schraube_Ä 7", {"bolt": 27, "nut": 25, "Schraube_Ä": 7}),
    "criterion_2_emptied": ("in bolt 3|out bolt 3|in nut 1", {"nut": 1}),
    "criterion_2_taken_back": ("in bolt 3|in nut 1|undo", {"bolt": 3}),
    "criterion_3_refused": ("in bolt 3|out bolt 4|out nut 1", {"bolt": 3}),
    "criterion_3_undo_skips_refused": ("in bolt 3|in nut 2|out bolt 4|undo", {"bolt": 3}),
    "criterion_3_redo_survives_refused": ("in bolt 3|in nut 2|undo|out nut 1|redo", {"bolt": 3, "nut": 2}),
    "criterion_4_undo_all_and_more": ("in bolt 3|out bolt 1|undo|undo|undo|in nut 5", {"nut": 5}),
    "criterion_4_redo_in_order": ("in bolt 9|out bolt 4|in nut 1|undo|undo|undo|redo|redo", {"bolt": 5}),
    "criterion_4_redo_and_more": ("in bolt 9|in nut 1|undo|redo|redo|undo|undo|redo", {"bolt": 9}),
    "criterion_4_undo_of_out": ("in bolt 5|out bolt 5|undo|out bolt 2", {"bolt": 3}),
    "criterion_5_new_entry": ("in bolt 3|in nut 2|undo|in pin 1|redo", {"bolt": 3, "pin": 1}),
    "criterion_5_undo_after_new_entry": ("in bolt 3|in nut 2|undo|in pin 1|undo|undo|redo", {"bolt": 3}),
    "criterion_6_empty": ("", {}),
    "criterion_6_nothing_to_do": ("undo|redo|out bolt 1|undo", {}),
}


def stock(solution_path, journal):
    """What the script leaves in stock.json for a journal, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "journal.txt").write_text("".join(f"{entry}\n" for entry in journal.split("|") if entry), "utf-8")
        try:
            done = run_solution(solution_path, cwd=folder, timeout=5)
            if done.returncode != 0:
                return f"exit status {done.returncode}"
            return json.loads(read_output(f"{folder}/stock.json", folder))
        except Exception as error:
            return f"{type(error).__name__}"


if __name__ == "__main__":
    import sys

    cases = []
    for name, (journal, wanted) in JOURNALS.items():
        got = stock(sys.argv[1], journal)
        case = {"id": name, "passed": got == wanted, "input_summary": journal}
        cases.append(case if got == wanted else {**case, "actual_summary": repr(got)[:100]})
    right = sum(case["passed"] for case in cases)
    passed = right == len(JOURNALS)
    verdict = {
        "schema_version": "1.0",
        "score": 1.0 if passed else 0.0,
        "passed": passed,
        "details": f"{right} of {len(JOURNALS)} journals come out right",
        "cases": cases,
    }
    print(json.dumps(verdict))
    sys.exit(0 if passed else 1)
