"""Judge for split_bill: fixed bills, the agent has seen none of them, and all must be split right."""
from cases import CASES
from deepgym_solution import load_solution


def outcome(solution, cents, weights):
    """What the function returns, or the error it raises; the solution runs in a process of its own."""
    try:
        return solution.split_bill(cents, weights)
    except Exception as error:
        return error


def verify(solution_path, test_cases_path=None):
    """Criteria 1 to 5 of split_bill; the id of a case names the criterion that it is for."""
    solution = load_solution(solution_path)
    cases = []
    for name, cents, weights, shares in CASES:
        got = outcome(solution, cents, list(weights))
        if shares is None:
            passed = isinstance(got, ValueError)
        else:
            passed = type(got) is list and all(type(share) is int for share in got) and got == shares
        case = {"id": name, "passed": passed, "input_summary": f"cents={cents} weights={weights}"}
        cases.append(case if passed else {**case, "actual_summary": repr(got)[:100]})
    right = sum(case["passed"] for case in cases)
    return {
        "score": 1.0 if right == len(CASES) else 0.0,
        "passed": right == len(CASES),
        "details": f"{right} of {len(CASES)} bills are split right",
        "cases": cases,
    }
