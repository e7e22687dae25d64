"""The digests of a plan's parts: what an edit changes, and what must not."""

from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.formats.digests import PARTS, with_digests
from scenlint.lint.discover import Finder, format_named
from scenlint.task.plan import Build, Container, Image, Limits, NotRunnableError, RunPlan, Upload
from scenlint.task.policy import Policy
from scenlint.testing import base_task


def digests(folder: Path, key: str | None = None) -> dict[str, str]:
    refs = Finder(Settings(root=folder)).discover([folder]).refs
    ref = next(r for r in refs if key is None or r.key == key)
    form = format_named(ref.format)
    return dict(form.plan(form.load(ref, Policy())).digests)


def changed(folder: Path, path: str, text: str | None = None) -> set[str]:
    """The parts whose digest changes when a file gets another text (or a further line)."""
    before = digests(folder)
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    old = target.read_text() if target.exists() else ""
    target.write_text(old + "\n" if text is None else text)
    after = digests(folder)
    return {part for part in PARTS if before[part] != after[part]}


@pytest.fixture
def harbor(tmp_path):
    return base_task("harbor", tmp_path / "product")


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("tests/test_outputs.py", "verifier"),
        ("solution/solve.sh", "oracle"),
        ("environment/factors.txt", "environment"),
        ("environment/Dockerfile", "environment"),
        ("README.md", None),
        ("environment/README.md", None),  # the Dockerfile does not copy it
        ("tests/__pycache__/x.pyc", None),
    ],
)
def test_an_edit_changes_the_part_that_the_file_belongs_to(harbor, path, part):
    assert changed(harbor, path) == ({part} if part else set())


def test_the_brief_counts_as_the_agent_sees_it(harbor):
    text = (harbor / "instruction.md").read_text()
    assert changed(harbor, "instruction.md", "<!-- canary x -->\n" + text) == set()
    assert changed(harbor, "instruction.md", text + "Be quick.\n") == {"brief"}


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("[metadata]\ncategory = 'other'\n", {"metadata"}),
        ("[verifier]\ntimeout_sec = 61\n", {"metadata", "verifier"}),
        ("[agent]\ntimeout_sec = 61\n", {"metadata", "environment"}),
        ("[environment]\nmemory_mb = 1234\n", {"metadata", "environment"}),
        ("[solution]\nenv = {A = '1'}\n", {"metadata", "oracle"}),
    ],
)
def test_a_setting_counts_for_the_part_that_it_governs(harbor, setting, parts):
    (harbor / "task.toml").write_text("")
    assert changed(harbor, "task.toml", setting) == parts


def test_a_file_that_becomes_a_program_counts_and_its_other_modes_do_not(harbor):
    before = digests(harbor)
    (harbor / "tests/test_outputs.py").chmod(0o600)
    assert digests(harbor) == before
    (harbor / "tests/test_outputs.py").chmod(0o700)
    assert digests(harbor)["verifier"] != before["verifier"]


def test_links_count_by_where_they_point(harbor):
    link = harbor / "tests/link"
    link.symlink_to("test.sh")
    before = digests(harbor)
    link.unlink()
    link.symlink_to("test_outputs.py")
    assert digests(harbor)["verifier"] != before["verifier"]


def test_tests_in_the_context_of_a_build_are_none_of_the_environment(tmp_path):
    legacy = base_task("terminal-bench", tmp_path / "product")
    assert changed(legacy, "tests/test_outputs.py") == {"verifier"}
    assert changed(legacy, "solution.sh") == {"oracle"}
    (legacy / "Dockerfile").write_text((legacy / "Dockerfile").read_text() + "COPY . /all\n")
    assert changed(legacy, "tests/test_outputs.py") == {"verifier", "environment"}
    (legacy / ".dockerignore").write_text("tests\n")
    assert changed(legacy, "tests/test_outputs.py") == {"verifier"}


def test_a_suites_other_files_do_not_count(tmp_path):
    waza = base_task("waza", tmp_path / "suite")
    (own,) = (p.name for p in (waza / "tasks").glob("*.yaml"))
    text = (waza / "tasks" / own).read_text()
    (waza / "tasks/zz.yaml").write_text(text.replace("product-001", "product-002"))
    before = digests(waza, f"tasks/{own}")
    (waza / "tasks/zz.yaml").write_text(text.replace("product-001", "product-003"))
    assert digests(waza, f"tasks/{own}") == before
    (waza / "tasks" / own).write_text(text + "tags: [x]\n")
    after = digests(waza, f"tasks/{own}")
    assert {part for part in PARTS if before[part] != after[part]} == {"metadata"}


def test_saas_metadata_and_text_are_none_of_the_verifier(tmp_path):
    saas = base_task("saas-bench", tmp_path / "suite")
    task = next(saas.glob("tasks/*/*/*")).relative_to(saas)
    meta = (saas / task / "meta.json").read_text()
    assert changed(saas, f"{task}/meta.json", meta + "\n") == {"metadata"}
    assert changed(saas, f"{task}/description.md") == {"brief"}
    assert changed(saas, f"{task}/verify.py") == {"verifier"}
    assert changed(saas, "apps.yaml", (saas / "apps.yaml").read_text().replace("10.5", "10.6")) == {"environment"}


# ---------------------------------------------------------------- on plans of our own


def made(folder: Path, container: Container | None = None) -> dict[str, str]:
    form = format_named("harbor")
    task = form.load(form.find(folder, frozenset(p.name for p in folder.iterdir()))[0], Policy())
    plan = RunPlan("t", "harbor", folder, (), container)
    return dict(with_digests(plan, task).digests)


def test_a_field_with_its_default_does_not_count(harbor):
    one = Container(Image("x"))
    assert made(harbor, one) == made(harbor, replace(one, limits=Limits(cpus=None)))
    assert made(harbor, one) != made(harbor, replace(one, limits=Limits(cpus=1)))
    assert made(harbor, one)["environment"] != made(harbor, replace(one, command=()))["environment"]


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("COPY a.txt /x", {"a.txt"}),
        ("COPY ./sub/ /x", {"sub/b.txt"}),
        ("ADD sub/*.txt /x", {"sub/b.txt"}),
        ("COPY *.txt /x", {"a.txt", "sub/b.txt"}),
        ("COPY --from=other /a.txt /x", set()),
        ("ADD https://example.org/a.txt /x", set()),
        ("ARG WHAT\nCOPY $WHAT /x", {"a.txt", "sub/b.txt"}),
        ("RUN --mount=type=bind,target=/x true", {"a.txt", "sub/b.txt"}),
        ("RUN --mount=type=cache,target=/x true", set()),
        ("COPY <<EOF /x\ntext\nEOF", set()),
    ],
)
def test_of_a_build_context_only_what_is_copied_counts(tmp_path, harbor, line, counts):
    context = tmp_path / "context"
    (context / "sub").mkdir(parents=True)
    (context / "Dockerfile").write_text(f"FROM debian:12\n{line}\n")
    (context / "a.txt").write_text("a")
    (context / "sub/b.txt").write_text("b")
    container = Container(Image(build=Build(context)))
    before = made(harbor, container)
    for path in ("a.txt", "sub/b.txt"):
        text = (context / path).read_text()
        (context / path).write_text("other")
        assert (made(harbor, container) != before) is (path in counts), path
        (context / path).write_text(text)


def test_build_arguments_and_target_count(tmp_path, harbor):
    (tmp_path / "Dockerfile").write_text("FROM debian:12 AS a\nFROM debian:13 AS b\n")
    build = Build(tmp_path)
    variants = [build, replace(build, target="a"), replace(build, arguments=(("A", "1"),))]
    assert len({made(harbor, Container(Image(build=b)))["environment"] for b in variants}) == 3


def test_a_file_that_cannot_be_read_is_named(harbor, modes_hold):
    (harbor / "tests/test_outputs.py").chmod(0)
    with pytest.raises(NotRunnableError, match="test_outputs"):
        digests(harbor)


def test_a_missing_file_is_named(harbor, tmp_path):
    form = format_named("harbor")
    task = form.load(form.find(harbor, frozenset(p.name for p in harbor.iterdir()))[0], Policy())
    step = form.plan(task).steps[0]
    gone = replace(step, uploads=(Upload(tmp_path / "gone", "/x"),))
    with pytest.raises(NotRunnableError, match="gone"):
        with_digests(RunPlan("t", "harbor", harbor, (gone,)), task)


def test_a_file_of_absurd_size_is_not_hashed_but_refused(tmp_path):
    task = base_task("packet", tmp_path / "packet")
    with (task / "work" / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(NotRunnableError, match=r"huge\.bin` has 1024 GB"):
        digests(task)
