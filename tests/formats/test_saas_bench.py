"""SaaS-Bench: which folders are tasks, the work list as the loader reads it, the apps list and the variables."""

import json
from pathlib import Path

import pytest

from scenlint.formats.saas_bench import FORMAT
from scenlint.formats.saas_bench.apps import PUBLISHED, run_images, variables
from scenlint.formats.saas_bench.steps import read_steps
from scenlint.source.text import Fragment, Source
from scenlint.task.model import Contract, Isolation, Role, Task
from scenlint.task.policy import Policy
from scenlint.testing import base_task


def claimed(folder: Path) -> bool:
    return bool(FORMAT.find(folder, frozenset(p.name for p in folder.iterdir())))


def load(folder: Path, policy: Policy | None = None) -> Task:
    (ref,) = FORMAT.find(folder, frozenset(p.name for p in folder.iterdir()))
    return FORMAT.load(ref, policy or Policy())


@pytest.fixture
def suite(tmp_path):
    return base_task("saas-bench", tmp_path / "suite")


@pytest.fixture
def folder(suite):
    return suite / "tasks/uni-m/Teamwork/teamwork_001"


# ---------------------------------------------------------------- finding


@pytest.mark.parametrize("lost", ["description.md", "meta.json", "verify.py"])
def test_a_task_that_lost_one_file_is_still_one_and_says_what_is_missing(folder, lost):
    (folder / lost).unlink()
    assert [r.path for r in load(folder).requirements if not r.met] == [lost]


def test_a_missing_verifier_only_means_that_no_score_is_computed(folder):
    (folder / "verify.py").unlink()
    task = load(folder)
    (missing,) = [r for r in task.requirements if not r.met]
    assert missing.severity == "warning"
    assert "SKIP" in task.lacks(Role.VERIFIER)


@pytest.mark.parametrize(
    "files",
    [
        {"description.md": "x", "meta.json": '{"name": "a package"}'},
        {"description.md": "x", "verify.py": "print('hello')"},
        {"meta.json": '{"task_id": "x"}'},
        {"description.md": "x", "meta.json": '{"sites": []}', "verify.py": "", "task.toml": ""},
    ],
)
def test_lookalikes_are_left_alone(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert not claimed(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        '{"meta_data": null}',
        '{"meta_data": {"sites": "mattermost"}, "multimodal_input": {"file": 1}}',
        '{"task_id": 7, "category_id": [], "meta_data": {"sites": [1, null]}, "multimodal_input": ["x", {"file": ""}]}',
    ],
)
def test_odd_metadata_are_read_without_a_crash(folder, text):
    (folder / "meta.json").write_text(text)
    task = load(folder)
    assert task.sites == []
    assert task.lacks(Role.SITES)
    assert task.environment.variables.given.keys() == {"SERVER_HOSTNAME"}


# ---------------------------------------------------------------- what is read


def test_identity_is_claimed_against_the_folders_it_lies_in(folder):
    claims = {c.name: (c.value, c.expected, c.span.line) for c in load(folder).claims}
    assert claims == {"id": ("teamwork_001", "teamwork_001", 2), "category": ("Teamwork", "Teamwork", 3)}


def test_a_task_right_below_tasks_has_no_folder_that_names_a_category(suite, folder):
    flat = folder.rename(suite / "tasks" / "teamwork_001")
    assert [c.name for c in load(flat).claims] == ["id"]


def test_tasks_of_all_categories_share_one_suite(suite, folder):
    assert load(folder).suite == (suite / "tasks").resolve()


def test_the_verifier_runs_on_the_host_and_prints_point_lines(folder):
    (folder / "lookup.py").write_text("NAMES = []\n")
    (folder / "spare.py").write_text("NAMES = []\n")
    (folder / "verify.py").write_text("from lookup import NAMES\nprint(NAMES)\n")
    task = load(folder)
    verifier = task.verifier
    assert (verifier.contract, verifier.isolation) == (Contract.POINT_LINES, Isolation.HOST)
    assert {f.path.name for f in verifier.files} == {"verify.py", "lookup.py", "spare.py"}
    assert "lookup.py" in task.known_files
    assert "spare.py" not in task.known_files
    (limit,) = task.budget.limits
    assert (limit.name, limit.value.value, limit.cap) == ("verifier", 300.0, 300.0)
    assert task.oracle_place is None
    assert task.lacks(Role.ORACLE)


def test_input_files_are_named_from_the_root_of_the_repository(suite, folder):
    meta = json.loads((folder / "meta.json").read_text())
    shipped = suite / "tasks/inputs/chart.png"
    shipped.parent.mkdir()
    shipped.write_bytes(b"\x89PNG")
    meta["multimodal_input"] = [{"file": "tasks/inputs/chart.png"}, {"file": "tasks/inputs/gone.png"}]
    (folder / "meta.json").write_text(json.dumps(meta))
    assert [r.path for r in load(folder).requirements if not r.met] == ["tasks/inputs/gone.png"]


# ---------------------------------------------------------------- the work list


def steps(text: str) -> tuple[list[str], list[tuple[int, str]]]:
    found = read_steps(Fragment.of(Source(Path("description.md"), text.encode()), "markdown"))
    return [s.text for s in found.steps], [(span.line, why) for span, why in found.dropped]


@pytest.mark.parametrize("heading", ["**Steps:**", "** step : **", "## Steps", "# STEP"])
def test_both_spellings_of_the_heading_are_read(heading):
    assert steps(f"Text\n\n{heading}\n\n1. Open it.\n2. Close it.\n\n**Login Credentials:**\n\n1. no step\n") == (
        ["Open it.", "Close it."],
        [],
    )


@pytest.mark.parametrize("heading", ["**Steps**:", "## Steps:", "Steps:", "**Plan:**"])
def test_other_spellings_are_no_heading(heading):
    found = read_steps(Fragment.of(Source(Path("x"), f"{heading}\n1. Open it.\n".encode()), "markdown"))
    assert found.heading is None
    assert found.steps == []


def test_a_bold_heading_wins_over_an_earlier_atx_heading():
    assert steps("## Steps\n1. first\n\n**Steps:**\n1. second\n")[0] == ["second"]


@pytest.mark.parametrize(
    ("text", "kept", "line", "why"),
    [
        ("1. a\n2) b\n3. c\n", ["a", "c"], 3, "written with `)`"),
        ("1. a\n2.\n3. c\n", ["a", "c"], 3, "no text"),
        ("1. a\n2.b\n3. c\n", ["a", "c"], 3, "no space"),
        ("1. a\n    1. b\n2. c\n", ["a", "c"], 3, "nested"),
        ("1. a\n   b\n   c\n2. d\n", ["a", "d"], 3, "continues step 1"),
        ("1. a\n3. c\n", ["a", "c"], 3, "numbered 3 but follows 1"),
        ("2. b\n", ["b"], 2, "numbered 2 but is the first"),
        ("- a\n", [], 2, "bullet"),
        ("1. a\n**Part two**\n2. b\n", ["a"], 4, "behind `**Part two**`"),
        ("1. a\n# note\n2. b\n", ["a"], 4, "behind `# note`"),
        ("**1. Open** it\n", [], 2, "number in bold"),
    ],
)
def test_what_the_grammar_drops_is_told_with_the_reason(text, kept, line, why):
    found, dropped = steps("**Steps:**\n" + text)
    assert found == kept
    assert [at for at, _ in dropped] == [line]
    assert why in dropped[0][1]


@pytest.mark.parametrize(
    "text",
    [
        "1. a\n   - sub\n   * sub\n2. b\n",
        "1. a\n- sub\n2. b\n",
        "1. a\n  1) sub\n2. b\n",
        "1. a\n1. b\n1. c\n",
        "1. a\n\nA closing remark.\n",
        "1. a\r\n2. b\r\n",
        "1. a\n\n**Notes:**\n1. unrelated\n2. unrelated\n",
    ],
)
def test_what_is_no_lost_step_is_left_alone(text):
    assert steps("**Steps:**\n" + text)[1] == []


def test_places_of_steps_survive_a_byte_order_mark_and_wide_characters():
    source = Source(Path("x"), "\ufeff**Steps:**\n\n1. 打开 🎉 it\n".encode())
    found = read_steps(Fragment.of(source, "markdown"))
    assert found.heading.text == "**Steps:**"
    assert found.steps[0].span.text == "1. 打开 🎉 it"


# ---------------------------------------------------------------- applications


def test_sites_are_looked_up_in_the_list_above_the_task(folder):
    (folder / "meta.json").write_text('{"task_id": "x", "meta_data": {"sites": ["mattermost", "matermost"]}}')
    task = load(folder)
    assert [(s.name, s.known) for s in task.sites] == [("mattermost", True), ("matermost", False)]
    assert task.sites[1].span.text == '"matermost"'


def test_the_repository_keeps_its_list_in_a_folder_of_its_own(suite, folder):
    (suite / "saas_bench").mkdir()
    (suite / "apps.yaml").rename(suite / "saas_bench/apps.yaml")
    assert load(folder).sites[0].known is True


def test_a_configured_list_counts_before_one_that_is_found(suite, folder, tmp_path):
    (tmp_path / "other.yaml").write_text("apps:\n  grocy:\n    start: docker run grocy\n")
    task = load(folder, Policy(apps=str(tmp_path / "other.yaml")))
    assert task.sites[0].known is False
    assert task.sites[0].candidates == ("grocy",)


def test_without_a_list_nothing_is_known(suite, folder):
    (suite / "apps.yaml").unlink()
    assert load(folder).sites[0].known is None


def test_the_search_for_a_list_stays_inside_the_repository(suite, folder):
    (suite / "tasks" / ".git").mkdir()
    assert load(folder).sites[0].known is None


def test_variables_follow_the_sites_and_their_databases():
    found = variables(["e-label", "grocy"], [])
    assert set(found.given) == {
        "SERVER_HOSTNAME", "E_LABEL_PORT", "E_LABEL_CONTAINER", "E_LABEL_DB_CONTAINER", "GROCY_PORT", "GROCY_CONTAINER",
    }  # fmt: skip
    assert found.available["MATTERMOST_DB_CONTAINER"].site == "mattermost"
    assert "GROCY_DB_CONTAINER" not in found.available
    assert len(PUBLISHED) == 23


def test_an_app_that_only_the_list_knows_may_have_a_database():
    assert "WIKI_DB_CONTAINER" in variables(["wiki"], ["wiki"]).given


@pytest.mark.parametrize(
    ("command", "images"),
    [
        ("docker run -d --name {container} -p {port}:80 -e A=b mw-grocy:latest", ["mw-grocy:latest"]),
        (
            "docker run --rm -it --network=host -u 0 --env A='b c' reg:5000/x@sha256:ab cmd arg",
            ["reg:5000/x@sha256:ab"],
        ),
        ("docker pull busybox:1 && docker run busybox:1 true", ["busybox:1", "busybox:1"]),
        ("docker compose up -d", []),
        ("docker run", []),
    ],
)
def test_the_image_of_a_docker_command_is_found_behind_its_options(command, images):
    assert [command[a:b] for a, b in run_images(command)] == images


def test_the_apps_that_tasks_use_are_shared_with_the_images_of_commands_and_compose_templates(suite, folder):
    (suite / "docker").mkdir()
    (suite / "docker/chat.yml.tpl").write_text(
        "services:\n  $prefix-db:\n    image: postgres:16\n    container_name: $prefix-db\n"
        "  $prefix:\n    image: chat:2\n"
    )
    (suite / "apps.yaml").write_text(
        "apps:\n"
        "  unused:\n    start: docker run -d never:1\n"
        "  mattermost:\n    start_type: compose\n    compose_template_file: docker/chat.yml.tpl\n"
        "  grocy:\n    start: >-\n      docker run -d --name {container}\n      -p {port}:80 grocy:3\n"
        "  gone:\n    compose_template_file: ../outside.yml\n"
    )
    (folder / "meta.json").write_text(
        json.dumps({"task_id": "x", "meta_data": {"sites": ["mattermost", "grocy", "gone"]}})
    )
    refs = FORMAT.find(folder, frozenset(p.name for p in folder.iterdir()))
    (shared,) = FORMAT.shared(refs, Policy())
    assert shared.shared
    places = {(i.reference, i.span.text, i.span.source.path.name, i.span.line) for i in shared.environment.images}
    assert places == {
        ("postgres:16", "postgres:16", "chat.yml.tpl", 3),
        ("chat:2", "chat:2", "chat.yml.tpl", 6),
        ("grocy:3", "grocy:3", "apps.yaml", 10),
    }
    assert [d.name for d in shared.environment.compose] == ["docker/chat.yml.tpl"]
    assert shared.lacks(Role.BRIEF)


@pytest.mark.parametrize("text", ["", "null", '{"task_'])
def test_a_task_whose_metadata_are_broken_and_that_lost_its_brief_is_known_by_its_verifier(folder, text):
    (folder / "meta.json").write_text(text)
    (folder / "description.md").unlink()
    assert claimed(folder)
    (folder / "verify.py").write_text("print('verified')\n")
    assert not claimed(folder)
