"""JUnit XML: a suite per task, a case per rule that judged it; errors and warnings fail, not assessed is skipped."""

from __future__ import annotations

from collections import defaultdict
from xml.etree import ElementTree

from scenlint.report.model import Report
from scenlint.report.style import Style, decoded
from scenlint.source.regex import regex
from scenlint.task.finding import Finding, NotAssessed, Severity

_ILLEGAL = regex("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, style: Style) -> str:
    found: dict[str, dict[str, list[Finding]]] = defaultdict(lambda: defaultdict(list))
    for finding in report.ordered():
        found[finding.task][finding.rule].append(finding)
    missing: dict[str, dict[str, NotAssessed]] = defaultdict(dict)
    for item in report.not_assessed:
        missing[item.task][item.rule] = item
    root = ElementTree.Element("testsuites", name="scenlint", time=f"{report.elapsed:.3f}")
    for task in sorted({*report.ran, *found, *missing}):
        suite = ElementTree.SubElement(root, "testsuite", name=_legal(task or "suite"))
        for rule in sorted({*report.ran.get(task, ()), *found[task], *missing[task]}):
            case = ElementTree.SubElement(suite, "testcase", classname=_legal(task or "suite"), name=rule)
            if rule in found[task]:
                _result(case, found[task][rule], report)
            elif rule in missing[task]:
                ElementTree.SubElement(case, "skipped", message=_legal(f"not assessed: {missing[task][rule].reason}"))
        _count(suite)
    if report.crashes:
        suite = ElementTree.SubElement(root, "testsuite", name="scenlint")
        for n, message in enumerate(report.crashes, 1):
            case = ElementTree.SubElement(suite, "testcase", classname="scenlint", name=f"internal error {n}")
            ElementTree.SubElement(case, "error", message=_legal(message))
        _count(suite)
    _count(root)
    # References instead of characters outside ASCII: the same bytes whatever the stream's encoding.
    ElementTree.indent(root)
    body: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=False)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + body.decode("ascii") + "\n"


def _result(case: ElementTree.Element, findings: list[Finding], report: Report) -> None:
    failing = [f for f in findings if report.severity(f) is not Severity.INFO]
    text = "\n".join(_line(f, report) for f in findings)
    if failing:
        worst = min(failing, key=lambda f: report.severity(f).rank)
        failure = ElementTree.SubElement(case, "failure", message=_legal(worst.message), type=report.severity(worst))
        failure.text = _legal(text)
    else:
        ElementTree.SubElement(case, "system-out").text = _legal(text)


def _line(finding: Finding, report: Report) -> str:
    place = finding.location
    text = f"{report.path(place.path)}:{place.line}:{place.column}: {report.severity(finding)}: {finding.message}"
    return f"{text}\n  help: {finding.help}" if finding.help else text


def _count(element: ElementTree.Element) -> None:
    element.set("tests", str(len(element.findall(".//testcase"))))
    element.set("failures", str(len(element.findall(".//failure"))))
    element.set("errors", str(len(element.findall(".//error"))))
    element.set("skipped", str(len(element.findall(".//skipped"))))


def _legal(text: str) -> str:
    """Only characters that XML allows."""
    return _ILLEGAL.sub("\ufffd", decoded(text))
