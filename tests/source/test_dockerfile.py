"""Dockerfiles are read as the builder reads them, and every place leads back to the file."""

from __future__ import annotations

from pathlib import Path

from scenlint.source.dockerfile import Dockerfile, Instruction, parse
from scenlint.source.text import Fragment, Source


def read(text: str, **arguments: str) -> Dockerfile:
    source = Source(Path("Dockerfile"), text.encode())
    return parse(Fragment.of(source, "dockerfile"), arguments)


def only(dockerfile: Dockerfile, keyword: str) -> Instruction:
    (found,) = [i for stage in dockerfile.stages for i in stage.instructions if i.keyword == keyword]
    return found


def test_base_image_takes_the_default_of_a_build_argument() -> None:
    read_file = read("ARG TAG=3.12\nFROM python:${TAG}-slim AS base\n")
    assert read_file.stages[0].base.text == "python:3.12-slim"
    assert read_file.stages[0].base.raw == "python:${TAG}-slim"
    assert read_file.stages[0].base.span.text == "python:${TAG}-slim"
    assert read_file.stages[0].name == "base"


def test_given_build_argument_wins_over_the_default() -> None:
    assert read("ARG TAG=3.12\nFROM python:$TAG\n", TAG="3.13").stages[0].base.text == "python:3.13"


def test_base_image_with_an_argument_of_no_default_is_unknown() -> None:
    assert read("ARG BASE\nFROM ${BASE}\n").stages[0].base.text is None
    assert read("ARG BASE\nFROM ${BASE:-debian:12}\n").stages[0].base.text == "debian:12"


def test_argument_of_a_stage_does_not_reach_the_next_from() -> None:
    assert read("FROM debian:12\nARG TAG=1\nFROM python:$TAG\n").stages[1].base.text is None


def test_platform_flag_is_no_part_of_the_image() -> None:
    stage = read("FROM --platform=linux/amd64 reg.example:5000/a/b@sha256:00\n").stages[0]
    assert stage.base.text == "reg.example:5000/a/b@sha256:00"
    assert stage.platform is not None
    assert stage.platform.text == "linux/amd64"


def test_stage_takes_over_what_its_base_stage_set() -> None:
    stages = read(
        'FROM debian:12 AS base\nUSER app\nWORKDIR /srv\nENV MODE=x\nSHELL ["/bin/bash", "-c"]\n'
        "FROM base\nWORKDIR data\n"
    ).stages
    assert stages[1].parent is stages[0]
    assert (stages[1].user, stages[1].workdir, stages[1].shell) == ("app", "/srv/data", ("/bin/bash", "-c"))
    assert stages[1].variables == {"MODE": "x"}
    assert [i.keyword for i in stages[1].history] == ["USER", "WORKDIR", "ENV", "SHELL", "WORKDIR"]
    assert stages[1].root is stages[0]


def test_stage_that_the_final_one_does_not_need_is_unused() -> None:
    dockerfile = read(
        "FROM a AS one\nFROM b AS two\nFROM c AS three\nFROM d AS four\nFROM one\n"
        "COPY --from=two /x /x\nRUN --mount=type=bind,from=3,target=/m true\n"
    )
    assert [s.name for s in dockerfile.used()] == ["one", "two", "four", None]
    assert [s.name for s in dockerfile.used("three")] == ["three"]


def test_environment_is_told_from_build_arguments() -> None:
    stage = read('FROM a\nARG X=1\nENV A="two words" B=three\\ four\nENV OLD style value\nENV P=$X:/bin\n').stages[0]
    assert stage.variables == {"X": "1", "A": "two words", "B": "three four", "OLD": "style value", "P": "1:/bin"}
    assert stage.environment == {"A", "B", "OLD", "P"}


def test_run_body_is_one_line_that_leads_back_to_its_places() -> None:
    text = "FROM a\nRUN apt-get update && \\\n    # why\n\n    apt-get install -y \\\n      git\n"
    (script,) = only(read(text), "RUN").scripts
    assert script.language == "shell"
    assert script.text.split() == ["apt-get", "update", "&&", "apt-get", "install", "-y", "git"]
    at = script.text.index("git")
    assert script.span(at, at + 3).text == "git"
    assert script.span(at, at + 3).line == 6


def test_run_heredoc_is_a_script_of_the_program_its_first_line_names() -> None:
    text = "FROM a\nRUN <<EOF\n#!/usr/bin/env python3\nprint(1)\nEOF\nRUN <<-'X'\n\techo a\n\tX\nCOPY b c\n"
    runs = [i for i in read(text).stages[0].instructions if i.keyword == "RUN"]
    assert [(r.scripts[0].language, r.scripts[0].text) for r in runs] == [
        ("python", "#!/usr/bin/env python3\nprint(1)\n"),
        ("shell", "echo a\n"),
    ]
    assert runs[1].heredocs[0].literal
    assert runs[1].scripts[0].span(0, 6).text == "echo a"
    assert only(read(text), "COPY").span.line == 9


def test_heredocs_of_a_command_stay_with_it() -> None:
    run = only(read("FROM a\nRUN cat <<A > /x && cat <<B > /y\none\nA\ntwo\nB\n"), "RUN")
    assert [h.content.text for h in run.heredocs] == ["one\n", "two\n"]
    assert run.scripts[0].text == "cat <<A > /x && cat <<B > /y\none\nA\ntwo\nB\n"


def test_copy_heredocs_are_files_and_not_sources() -> None:
    copy = only(read("FROM a\nCOPY --chmod=755 <<EOF b.txt <<'Y' /d/\none\nEOF\ntwo\nY\n"), "COPY")
    assert [w.text for w in copy.sources] == ["b.txt"]
    assert [(h.name, h.literal, h.content.text) for h in copy.heredocs] == [
        ("EOF", False, "one\n"),
        ("Y", True, "two\n"),
    ]
    assert [(name, word.text) for name, word in copy.flags] == [("chmod", "755")]
    assert copy.destination == "/d/"


def test_exec_form_is_a_command_line_or_the_shells_script() -> None:
    run = only(read('FROM a\nRUN ["pip", "install", "x>=1"]\n'), "RUN")
    assert [w.text for w in run.argv or []] == ["pip", "install", "x>=1"]
    assert run.scripts[0].text == "pip install 'x>=1'"
    at = run.scripts[0].text.index("x>=1")
    assert run.scripts[0].span(at, at + 4).text == "x>=1"
    script = only(read('FROM a\nRUN ["/bin/bash", "-ec", "echo \\"a\\" && b"]\n'), "RUN").scripts[0]
    assert script.text == 'echo "a" && b'
    assert script.span(len(script.text) - 1).text == "b"


def test_copy_destination_is_absolute_where_the_working_directory_is_known() -> None:
    def destination(text: str) -> str | None:
        return only(read("FROM a\n" + text), "COPY").destination

    assert destination("WORKDIR /app\nCOPY x .\n") == "/app/"
    assert destination("WORKDIR /app\nCOPY x sub/../y\n") == "/app/y"
    assert destination("ENV D=/data\nCOPY x $D/\n") == "/data/"
    assert destination("COPY x y\n") is None
    assert destination('COPY ["a b", "/c"]\n') == "/c"
    assert destination("COPY x $UNSET\n") is None


def test_origins_are_named_with_their_place() -> None:
    copy = only(read("FROM a AS b\nCOPY --from=b x /y\n"), "COPY")
    assert [(w.text, w.span.text) for w in copy.origins] == [("b", "b")]
    run = only(
        read("FROM a\nRUN --mount=type=cache,target=/c --mount=from=uv:1,target=/m --mount=target=/n x\n"), "RUN"
    )
    assert [(w.text, w.span.text) for w in run.origins] == [("uv:1", "uv:1")]
    assert only(read("FROM a\nCOPY x /y\n"), "COPY").local


def test_escape_directive_changes_the_continuation() -> None:
    dockerfile = read("# escape=`\nFROM a\nRUN echo a `\n  b\nCOPY c:\\x c:\\y\\\nUSER u\n")
    assert dockerfile.directives == {"escape": "`"}
    assert only(dockerfile, "RUN").scripts[0].text == "echo a   b"
    assert dockerfile.stages[0].user == "u"


def test_a_comment_after_the_first_instruction_is_no_directive() -> None:
    assert read("FROM a\n# escape=`\n").directives == {}


def test_apostrophe_in_a_comment_does_not_hide_the_rest() -> None:
    dockerfile = read("FROM a\nRUN rm x # we don't want it\nRUN echo isn\\'t\nCOPY b /c\n")
    assert [i.keyword for i in dockerfile.stages[0].instructions] == ["RUN", "RUN", "COPY"]
    assert dockerfile.problems == []
    assert dockerfile.stages[0].instructions[0].scripts[0].text == "rm x # we don't want it"


def test_what_cannot_be_read_is_a_problem_at_its_place() -> None:
    dockerfile = read("FROM a\nRUM echo\nCOPY b /c\n")
    assert [(span.line, span.text) for span, _ in dockerfile.problems] == [(2, "RUM echo")]
    assert only(dockerfile, "COPY").destination == "/c"


def test_file_without_stage_is_a_problem() -> None:
    assert [why for _, why in read("# nothing\n").problems] == ["has no FROM instruction"]
    assert [why for _, why in read("RUN x\nFROM a\n").problems] == ["stands before the first FROM"]


def test_onbuild_changes_nothing_in_this_build() -> None:
    dockerfile = read("FROM a\nONBUILD USER x\nHEALTHCHECK --interval=5s CMD curl localhost\n")
    assert dockerfile.stages[0].user is None
    assert only(dockerfile, "USER").onbuild
    assert only(dockerfile, "HEALTHCHECK").scripts[0].text == "curl localhost"


def test_windows_line_ends_read_alike() -> None:
    dockerfile = read("FROM a\r\nRUN echo a && \\\r\n    echo b\r\nCOPY x /y\r\n")
    assert only(dockerfile, "RUN").scripts[0].text.split() == ["echo", "a", "&&", "echo", "b"]
    assert only(dockerfile, "COPY").destination == "/y"
    assert dockerfile.problems == []


def test_places_after_wide_characters_are_exact() -> None:
    copy = only(read("FROM a\nRUN echo 'é🙂'\nCOPY é🙂 /ziel\n"), "COPY")
    assert copy.span.text == "COPY é🙂 /ziel"
    assert copy.sources[0].span.text == "é🙂"
