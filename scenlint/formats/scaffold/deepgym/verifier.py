"""Judges product(numbers) on cases that the solution does not see."""

from deepgym_solution import SolutionError, load_solution

CASES = [
    ("criterion 1", [6, 7], 42),
    ("criterion 1", [-3, 5, 2], -30),
    ("criterion 2", [], 1),
]


def verify(solution_path, test_cases_path=None):
    solution = load_solution(solution_path)
    cases = []
    for position, (criterion, numbers, want) in enumerate(CASES):
        case = {"id": f"{criterion}: case {position}", "input_summary": repr(numbers)}
        try:
            got = solution.product(numbers)
        except SolutionError as exc:
            cases.append({**case, "passed": False, "error": f"raised {type(exc).__name__}"})
            continue
        cases.append({**case, "passed": type(got) is int and got == want, "actual_summary": repr(got)[:80]})
    passed = all(case["passed"] for case in cases)
    return {"score": 1.0 if passed else 0.0, "passed": passed, "details": f"{len(CASES)} cases", "cases": cases}
