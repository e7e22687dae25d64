"""DeepGym takes the judge's file for another shape than its author meant, so that there is never a verdict."""

import ast
from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Role, Severity, Task, rule
from scenlint.source.python import walk
from scenlint.task.verdict_flow.judge import BODY, FUNCTION, SCRIPT, Judge, is_main_guard, judges
from scenlint.task.verdict_flow.programs import stream


@rule(
    "verifier-shape",
    "SL515",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    kind=Kind.FACT,
    needs={Role.VERIFIER},
    formats={"deepgym"},
    refute="metadata.json names the shape in `verifier_mode`, or a support file does what is missing",
)
def verifier_shape(task: Task) -> Iterator[Finding]:
    for judge in judges(task):
        if judge.shape == BODY:
            yield from _body(judge)
        elif judge.shape == FUNCTION:
            yield from _function(judge)
        elif judge.shape == SCRIPT and _prints_nothing(judge):
            yield Finding.at(
                judge.module.fragment.source.lines(1),
                "the script prints nothing to stdout, where the verdict is read",
                help='print the verdict as one line of JSON: `{"score": …, "passed": …}`',
            )


def _body(judge: Judge) -> Iterator[Finding]:
    tree = judge.module.tree
    if any(isinstance(n, ast.Return) and judge.module.function_of(n) is None for n in walk(tree)):
        return
    verify = judge.verify
    guard = next((n for n in tree.body if isinstance(n, ast.If) and _means_main(n.test)), None)
    if isinstance(verify, ast.AsyncFunctionDef):
        place = judge.module.head(verify)
        message = "`verify` is a coroutine: the file is taken for a body, which returns nothing"
        help = "make it a plain function, and run what has to be awaited with `asyncio.run`"
    elif guard is not None:
        place = judge.module.span(guard.test)
        message = "this main guard is not recognised: the file is taken for a body, which returns nothing"
        help = 'write `if __name__ == "__main__":`'
    elif (hidden := _hidden(judge)) is not None:
        place = judge.module.head(hidden)
        message = "`verify` does not stand at the top level: the file is taken for a body, which returns nothing"
        help = "define `verify` at the top level of the file"
    else:
        place = judge.module.fragment.source.lines(1)
        message = "the file has no main guard, no `verify` and no top-level `return`: it never gives a verdict"
        help = "define `verify(solution_path, test_cases_path=None)` and return its verdict"
    yield Finding.at(place, message, help=help)


def _means_main(test: ast.expr) -> bool:
    names = {n.id for n in walk(test) if isinstance(n, ast.Name)}
    texts = {n.value for n in walk(test) if isinstance(n, ast.Constant)}
    return "__name__" in names and "__main__" in texts and not is_main_guard(test)


def _hidden(judge: Judge) -> ast.FunctionDef | None:
    found = (n for n in judge.module.nodes if isinstance(n, ast.FunctionDef) and n.name == "verify")
    return next(found, None)


def _function(judge: Judge) -> Iterator[Finding]:
    verify = judge.verify
    if not isinstance(verify, ast.FunctionDef):
        return
    spec = verify.args
    positional = len(spec.posonlyargs) + len(spec.args)
    required = positional - len(spec.defaults)
    head = judge.module.head(verify)
    own = [n for n in walk(verify) if judge.module.function_of(n) is verify]
    if required > 2 or (positional == 0 and spec.vararg is None) or any(d is None for d in spec.kw_defaults):
        message = "`verify` cannot be called with the solution's path, and the path of the test cases if there are any"
        yield Finding.at(head, message, help="declare it as `verify(solution_path, test_cases_path=None)`")
    elif any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own):
        message = "`verify` is a generator: what it hands back is no verdict"
        yield Finding.at(head, message, help="collect what it yields and return one verdict")
    elif not any(isinstance(n, ast.Return) and n.value is not None for n in own):
        yield Finding.at(head, "`verify` returns nothing", help="return a number, a bool or a dict")


def _prints_nothing(judge: Judge) -> bool:
    """Whether neither the script nor what it imports writes to stdout; a program that it starts would share it."""
    program = judge.program
    if not program.complete or any(stream(o) != "stderr" for o in program.flow.outputs if o.kind != "exit"):
        return False
    text = "\n".join(m.fragment.text for m in program.flow.modules)
    return not any(word in text for word in ("stdout", "os.write", "subprocess", "os.system"))
