"""A build, solution or verifier that asks how many processors the machine has, or an image bound to one platform."""

from collections.abc import Iterator

from scenlint.rules import Confidence, Finding, Kind, Severity, Task, related, rule
from scenlint.source import dockerfile, python
from scenlint.source.text import Span
from scenlint.task.runs import build_runs, oracle_runs, verifier_runs

_COUNTS = (
    "os.cpu_count",
    "multiprocessing.cpu_count",
    "os.process_cpu_count",
    "psutil.cpu_count",
    "os.sched_getaffinity",
)


@rule(
    "cpu-count-dependence",
    "SL317",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    kind=Kind.FACT,
    aliases=["nproc", "dockerfile-platform"],
    refute="the number only speeds things up, and memory suffices for as many processes as any host has processors",
)
def cpu_count_dependence(task: Task) -> Iterator[Finding]:
    places = [*_commands(task), *_calls(task)]
    for (span, how), *others in [places] if places else []:
        yield Finding.at(
            span,
            f"`{how}` gives the machine's processors, not the task's, so builds and results differ from host to host",
            help="give a fixed number that the task's memory allows, such as the `cpus` of its metadata",
            related=[related(other, f"and `{text}` here") for other, text in others[:5]],
        )
    for build in task.environment.builds if task.environment else []:
        parsed = dockerfile.parse(build.fragment, build.arguments)
        for stage in parsed.used(build.target):
            if stage.platform is not None and "$" not in stage.platform.raw:
                yield Finding.at(
                    stage.platform.span,
                    f"the image is bound to `{stage.platform.raw}`, which other hosts emulate slowly or not at all",
                    help="leave `--platform` out unless the task is about that platform",
                )


def _commands(task: Task) -> Iterator[tuple[Span, str]]:
    for run in (*build_runs(task), *verifier_runs(task), *oracle_runs(task)):
        if run.command.program == "nproc":
            yield run.command.span, "nproc"


def _calls(task: Task) -> Iterator[tuple[Span, str]]:
    for fragment in task.verifier.code("python") if task.verifier else []:
        module = python.parse(fragment)
        for call in module.calls(*_COUNTS):
            yield module.span(call), f"{module.dotted(call.func)}()"
