"""Suppressions: every comment syntax, with a reason, on the line they speak of; and what is said of idle ones."""

import pytest

from scenlint.testing import base_task, lint

DIGEST = "sha256:" + "57" * 32
LATEST = "FROM python:latest\nWORKDIR /app\nCOPY factors.txt /app/factors.txt\n"


def dockerfile(task, text: str) -> list[str]:
    (task / "environment" / "Dockerfile").write_bytes(text.encode())
    return [f.rule for f in lint(task)]


def test_finding_is_there_without_a_suppression(harbor_task):
    assert "latest-tag" in dockerfile(harbor_task, LATEST)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["latest-tag", "SL302", "sl302", "unapproved-base, latest-tag"])
def test_comment_above_suppresses_by_name_and_code(harbor_task, name, end):
    comment = f"# scenlint: ignore[{name}] measured against the newest on purpose"
    above = (comment + "\n" + LATEST).replace("\n", end)
    assert "latest-tag" not in dockerfile(harbor_task, above)
    assert "suppression-without-reason" not in dockerfile(harbor_task, above)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comment_behind_the_code_suppresses_on_its_line(harbor_task, end):
    script = harbor_task / "tests" / "test.sh"
    line = "pip install rich==13.9.4"
    for text, there in (
        (line, True),
        (f"{line}  # scenlint: ignore[download-at-grading] from our mirror", False),
    ):
        script.write_bytes(f"#!/bin/bash{end}{text}{end}".encode())
        assert ("download-at-grading" in [f.rule for f in lint(harbor_task)]) is there


def test_comment_elsewhere_does_not_suppress(harbor_task):
    text = LATEST + "# scenlint: ignore[latest-tag] too late\n"
    assert {"latest-tag", "unused-suppression"} <= set(dockerfile(harbor_task, text))


def test_comment_for_the_whole_file_suppresses_anywhere(harbor_task):
    text = LATEST + "# scenlint: ignore-file[latest-tag] measured against the newest on purpose\n"
    assert "latest-tag" not in dockerfile(harbor_task, text)


def test_comment_without_reason_suppresses_nothing_and_is_reported(harbor_task):
    found = dockerfile(harbor_task, "# scenlint: ignore[latest-tag]\n" + LATEST)
    assert {"latest-tag", "suppression-without-reason"} <= set(found)


def test_markdown_comment_suppresses_in_the_brief(harbor_task):
    brief = harbor_task / "instruction.md"
    brief.write_text("<!-- TODO -->\n\n")
    assert "empty-brief" in [f.rule for f in lint(harbor_task)]
    brief.write_text("<!-- scenlint: ignore-file[empty-brief] the brief follows from the image -->\n\n")
    assert "empty-brief" not in [f.rule for f in lint(harbor_task)]


def test_misspelt_rule_is_reported_with_the_likely_name(harbor_task):
    (harbor_task / "tests" / "test.sh").write_text("# scenlint: ignore[latest-tga] a reason\n")
    (finding,) = lint(harbor_task, "unknown-rule")
    assert "latest-tag" in finding.help
    assert finding.quote == "latest-tga"


def test_rule_that_did_not_run_is_not_called_unused(harbor_task):
    (harbor_task / "tests" / "test.sh").write_text("# scenlint: ignore[latest-tag] a reason\n")
    assert lint(harbor_task, "unused-suppression") == []


class TestConfiguration:
    def config(self, task, entry: str) -> None:
        (task.parent / "scenlint.toml").write_text(entry)

    def test_table_suppresses_in_files_without_comments(self, harbor_task, scenlint):
        (harbor_task / "environment" / "Dockerfile").write_text(LATEST)
        self.config(
            harbor_task,
            '[[suppressions]]\nrule = "latest-tag"\npath = "*/environment/Dockerfile"\nreason = "newest is meant"\n',
        )
        result = scenlint("check", harbor_task.parent, "--format", "concise")
        assert "latest-tag" not in result.stdout
        assert "unused-suppression" not in result.stdout
        shown = scenlint("check", harbor_task.parent, "--format", "concise", "--no-ignores")
        assert "latest-tag" in shown.stdout

    def test_idle_entry_and_unknown_rule_are_reported_at_their_place(self, harbor_task, scenlint):
        self.config(
            harbor_task,
            'ignore = ["no-such"]\n[[suppressions]]\nrule = "latest-tag"\npath = "*"\nreason = "none"\n',
        )
        result = scenlint("check", harbor_task.parent, "--format", "concise")
        assert "scenlint.toml:1:11: W SL003 unknown-rule" in result.stdout
        assert "scenlint.toml:3:8: W SL001 unused-suppression" in result.stdout

    def test_per_path_ignores_hide_a_rule_below_a_path(self, harbor_task, scenlint):
        (harbor_task / "environment" / "Dockerfile").write_text(LATEST)
        self.config(harbor_task, '[per-path-ignores]\n"product/environment/**" = ["SL3"]\n')
        assert "latest-tag" not in scenlint("check", harbor_task.parent, "--format", "concise").stdout

    def test_severity_override_and_fail_on_decide_the_exit_status(self, harbor_task, scenlint):
        (harbor_task / "environment" / "Dockerfile").write_text(LATEST)
        arguments = ("check", harbor_task.parent, "--select", "latest-tag", "--format", "concise")
        assert scenlint(*arguments).returncode == 1
        self.config(harbor_task, '[severity]\nlatest-tag = "warning"\n')
        assert scenlint(*arguments).returncode == 0
        assert scenlint(*arguments, "--fail-on", "warning").returncode == 1
        assert scenlint(*arguments, "--fail-on", "warning", "--exit-zero").returncode == 0

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("selct = []\n", ":1:1: unknown key `selct`; did you mean `select`?"),
            ('profile = "seeds"\n', ":1:11: `profile` is 'seeds', which is not one of seed, harbor"),
            ("ignore = [\n", ":2:1:"),
            ('select = "ALL"\n', ":1:10: `select` has to be a list"),
            (
                "[severity]\nlatest-tag = 1\n",
                ":2:14: `severity.latest-tag` is 1, which is not one of error, warning, info",
            ),
            ('[agents.x]\ncmd = ["a"]\n', "unknown key `cmd` in `agents.x`"),
            ('[agents.x]\ncommand = ["a"]\nusr = "b"\n', "unknown key `usr` in `agents.x`; did you mean `user`?"),
        ],
    )
    def test_wrong_configuration_is_a_message_with_its_place(self, harbor_task, scenlint, text, place):
        self.config(harbor_task, text)
        result = scenlint("check", harbor_task.parent)
        assert result.returncode == 2
        assert place in result.stderr
        assert "Traceback" not in result.stderr


class TestReach:
    """Which lines a comment speaks of."""

    INSTALL = "FROM python:3.12-slim@" + DIGEST + "\n{above}RUN true \\\n  && pip install rich \\\n  && true{behind}\n"

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize(
        ("above", "behind"),
        [
            ("# scenlint: ignore[unpinned-dependency] the newest is meant\n", ""),
            ("# scenlint: ignore[unpinned-dependency] the newest is meant\n\n# more to say\n", ""),
            ("", " # scenlint: ignore[unpinned-dependency] not on the line of the finding"),
        ],
    )
    def test_comment_above_an_instruction_reaches_all_of_its_lines(self, harbor_task, above, behind, end):
        found = dockerfile(harbor_task, self.INSTALL.format(above=above, behind=behind).replace("\n", end))
        assert ("unpinned-dependency" in found) is not above
        assert ("unused-suppression" in found) is bool(behind)

    def test_comment_inside_an_instruction_speaks_of_the_command_below_it(self, harbor_task):
        comment = "  # scenlint: ignore[unpinned-dependency] the newest is meant\n"
        text = f"FROM python:3.12-slim@{DIGEST}\nRUN pip install rich && \\\n{comment}  pip install \\\n  idna\n"
        (finding,) = [f for f in self.lint(harbor_task, text) if f.rule == "unpinned-dependency"]
        assert finding.quote == "rich"

    def lint(self, task, text: str):
        (task / "environment" / "Dockerfile").write_text(text)
        return lint(task)

    @pytest.mark.parametrize(
        "text",
        [
            'NOTE = "# scenlint: ignore[tautology] no comment"\n',
            "NOTE = '''\n# scenlint: ignore[tautology] no comment\n'''\n",
        ],
    )
    def test_text_in_a_string_is_no_comment(self, harbor_task, text):
        test = harbor_task / "tests" / "test_outputs.py"
        test.write_text(text + "def test_sound():\n    assert True\n")
        assert {"tautology"} <= {f.rule for f in lint(harbor_task)}
        assert "unused-suppression" not in {f.rule for f in lint(harbor_task)}

    def test_comment_above_a_statement_of_python_reaches_its_last_line(self, harbor_task):
        test = harbor_task / "tests" / "test_outputs.py"
        call = "requests.get(\n    'http://example.com/',\n)\n"
        above = "# scenlint: ignore[call-without-timeout, external-network, implicit-download] fast\n"
        test.write_text(f"import requests\n\ndef test_x():\n    {above}    x = {call}    assert x.ok\n")
        assert not {"call-without-timeout", "external-network"} & {f.rule for f in lint(harbor_task)}

    def test_comment_in_a_here_document_of_text_is_none(self, harbor_task):
        script = harbor_task / "tests" / "test.sh"
        note = "cat > /tmp/notes <<EOF\n# scenlint: ignore[latest-tag] a note\nEOF\n"
        script.write_text(script.read_text() + note)
        assert not {"unused-suppression", "suppression-without-reason"} & {f.rule for f in lint(harbor_task)}

    def test_comment_of_a_packets_shell_line_suppresses_there(self, tmp_path):
        packet = base_task("packet", tmp_path / "packet")
        line = 'pip install rich && python3 -I \\"$SCENLINT_VERIFIER/check_product.py\\"'
        for behind, there in (("", True), (" # scenlint: ignore[download-at-grading] our mirror", False)):
            checks = f'[{{"type": "test", "command": "{line}{behind}", "required": true}}]'
            (packet / "packet.json").write_text(
                f'{{"id": "packet", "verifier": "checks", "verification": {{"checks": {checks}}}}}'
            )
            assert ("download-at-grading" in [f.rule for f in lint(packet)]) is there
