"""Harbor tasks: which folders are some, and what is read from them."""

from pathlib import Path

import pytest

from scenlint.formats.harbor import FORMAT
from scenlint.task.model import Contract, Isolation, Place, Role, Task
from scenlint.task.policy import Policy
from scenlint.testing import base_task

PINNED = "python:3.12-slim@sha256:" + "a" * 64


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def claimed(folder: Path) -> bool:
    return bool(FORMAT.find(folder, frozenset(p.name for p in folder.iterdir())))


def load(folder: Path) -> Task:
    (ref,) = FORMAT.find(folder, frozenset(p.name for p in folder.iterdir()))
    return FORMAT.load(ref, Policy())


@pytest.fixture
def folder(tmp_path):
    return base_task("harbor", tmp_path / "product")


def unmet(task: Task) -> list[str]:
    return [r.path for r in task.requirements if not r.met]


# ---------------------------------------------------------------- detection


@pytest.mark.parametrize("lost", ["instruction.md", "task.toml", "tests", "solution", "environment"])
def test_a_task_that_lost_one_part_is_still_one(folder, lost):
    (folder / lost).rename(folder.parent / lost)
    assert claimed(folder)


@pytest.mark.parametrize("text", ["[agent\ntimeout_sec = 1\n[verifier]\n", "", "\x00\x01", "no toml at all"])
def test_a_broken_task_toml_hides_no_task(folder, text):
    (folder / "task.toml").write_text(text)
    (folder / "instruction.md").unlink()
    assert claimed(folder)


@pytest.mark.parametrize(
    "files",
    [
        {"task.toml": '[task]\nname = "build"\n', "Cargo.toml": "", "src/main.rs": "", "tests/cli.rs": ""},
        {
            "task.toml": '[tasks.build]\nrun = "make"\n',
            "environment/prod.env": "",
            "package.json": "",
            "tests/a.js": "",
        },
        {"task.toml": "x = 1\n"},
        {"instruction.md": "Do it", "tests/test.sh": "", "solution/solve.sh": ""},  # a step's folder
        {"instruction.md": "Read me", "environment/a.env": ""},
        {"task.yaml": "instruction: x\n", "run-tests.sh": "", "tests/a.py": ""},
        {"README.md": ""},
    ],
    ids=["cargo", "task runner", "any toml", "a step", "docs", "terminal-bench", "nothing"],
)
def test_lookalikes_are_left_alone(tmp_path, files):
    assert not claimed(write(tmp_path, files))


def test_a_deepgym_folder_with_task_toml_is_harbors(tmp_path):
    assert claimed(write(tmp_path, {"task.toml": "", "task.md": "x", "verifier.py": ""}))


# ---------------------------------------------------------------- a plain task


def test_every_role_of_a_plain_task(folder):
    task = load(folder)
    assert unmet(task) == []
    assert {r for r in Role if task.lacks(r)} == {Role.STEPS, Role.SITES}
    assert task.id == "product"
    assert task.suite == folder.parent
    assert task.briefs[0].prose.text.startswith("# Product")
    environment = task.environment
    assert environment is not None
    assert [(b.context, b.place, b.service) for b in environment.builds] == [("environment", Place.AGENT, "main")]
    assert environment.files == ["environment/Dockerfile", "environment/factors.txt"]
    assert environment.workdir == "/app"
    assert environment.network is not None
    assert (environment.network.value, environment.network.span.text) == (False, "false")
    verifier = task.verifier
    assert verifier is not None
    assert (verifier.contract, verifier.isolation) == (Contract.REWARD_FILE, Isolation.SHARED)
    assert (verifier.folder, verifier.mount, verifier.workdir) == ("tests", "/tests", "/app")
    assert [g.name for g in verifier.graders] == ["tests/test.sh"]
    assert sorted((f.path.name, f.language) for f in verifier.files) == [
        ("test.sh", "shell"),
        ("test_outputs.py", "python"),
    ]
    assert verifier.graders[0].script in verifier.files
    assert task.oracle is not None
    assert task.oracle.entry.path == folder / "solution/solve.sh"
    assert {limit.name: limit.value.value for limit in task.budget.limits} == {
        "agent": 300.0,
        "verifier": 60.0,
        "build": 300.0,
    }


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("<!-- harbor-canary GUID 1 -->\n\nDo it.", "Do it."),
        ("# some CANARY string\n# and a canary again\r\n  \nDo it.", "Do it."),
        ("Do it.\n<!-- canary -->", "Do it.\n<!-- canary -->"),
        ("# Title\n\nDo it.", "# Title\n\nDo it."),
    ],
)
def test_a_leading_canary_is_not_told_to_the_agent(folder, text, prose):
    (folder / "instruction.md").write_bytes(text.encode())
    brief = load(folder).briefs[0].prose
    assert brief.text == prose
    assert brief.span().text == prose


def test_limits_that_are_not_set_are_the_formats_or_none(folder):
    (folder / "task.toml").write_text('version = "1.0"\n[agent]\n')
    limits = {limit.name: limit for limit in load(folder).budget.limits}
    assert limits["agent"].value.value is None
    assert limits["agent"].value.span.text == "[agent]"
    assert (limits["verifier"].value.value, limits["verifier"].value.span) == (600, None)
    assert limits["build"].value.value == 600


def test_the_stated_name_is_the_id(folder):
    (folder / "task.toml").write_text('[task]\nname = "org/product"\n')
    task = load(folder)
    assert task.id == "org/product"
    assert task.claims[0].span.text == '"org/product"'


def test_user_workdir_and_network_of_task_toml_win(folder):
    dockerfile = folder / "environment/Dockerfile"
    dockerfile.write_text(dockerfile.read_text() + "USER 1000\n")
    environment = load(folder).environment
    assert environment.user.value == "1000"
    assert environment.user.span.text == "USER 1000"
    (folder / "task.toml").write_text(
        '[agent]\nuser = "worker"\nnetwork_mode = "no-network"\n'
        '[environment]\nworkdir = "/srv"\nnetwork_mode = "public"\nallow_internet = true\n'
    )
    environment = load(folder).environment
    assert environment.user.value == "worker"
    assert environment.workdir == "/srv"
    assert environment.network.value is False


def test_data_of_the_tests_is_truth_and_settings_are_not(folder):
    write(
        folder / "tests",
        {
            "expected.json": "{}",
            "rows.csv": "a",
            "pytest.ini": "",
            "requirements.txt": "",
            "helper.py": "",
            "__pycache__/x.pyc": "",
        },
    )
    (folder / "tests/image.bin").write_bytes(b"\0\1")
    verifier = load(folder).verifier
    assert verifier.truth == ["tests/expected.json", "tests/image.bin", "tests/rows.csv"]
    languages = {f.path.name: f.language for f in verifier.files}
    assert languages["expected.json"] == "data"
    assert "image.bin" not in languages
    assert "x.pyc" not in languages


def test_ignored_files_are_left_out(folder):
    write(folder / "environment", {".dockerignore": "*.log\nprivate\n!keep.log\n", "a.log": "", "keep.log": ""})
    write(folder / "environment", {"private/x": "", "deep/a.log": ""})
    write(folder / "tests", {".harborignore": "*.tmp\n", "x.tmp": ""})
    task = load(folder)
    kept = [p.removeprefix("environment/") for p in task.environment.files]
    assert sorted(kept) == [".dockerignore", "Dockerfile", "deep/a.log", "factors.txt", "keep.log"]
    assert "x.tmp" not in {f.path.name for f in task.verifier.files}


def test_without_a_solution_the_oracle_is_absent_with_its_place(folder):
    (folder / "solution/solve.sh").unlink()
    task = load(folder)
    assert task.oracle_place == "solution/solve.sh"
    assert task.lacks(Role.ORACLE) == "solution/solve.sh is missing"
    assert unmet(task) == []


def test_what_is_required_and_missing_is_named(folder):
    for path in ("instruction.md", "tests/test.sh", "environment/Dockerfile", "task.toml"):
        (folder / path).unlink()
    (folder / "instruction.md").mkdir()
    assert set(unmet(load(folder))) == {"tests/test.sh", "environment/Dockerfile", "task.toml"}


def test_an_unreadable_task_toml_leaves_the_rest_readable(folder):
    (folder / "task.toml").write_text("[agent\n")
    task = load(folder)
    assert task.metadata.data.error is not None
    assert task.lacks(Role.BUDGET) == "task.toml cannot be read"
    assert task.briefs
    assert task.verifier
    assert task.oracle


@pytest.mark.parametrize(
    "text",
    [
        "steps = 1\n",
        'steps = ["a"]\n',
        '[[steps]]\nname = "../.."\n',
        "[[steps]]\nname = 3\n",
        'agent = "x"\nverifier = []\nenvironment = 1\n',
        "[environment]\ndocker_image = 3\nworkdir = []\nos = {}\n",
        "[verifier]\nenv = [1]\nenvironment = 2\n",
    ],
)
def test_values_of_any_type_are_survived(folder, text):
    (folder / "task.toml").write_text(text)
    task = load(folder)
    assert task.verifier is not None
    assert task.briefs


def test_windows_tasks_run_batch_files(folder):
    (folder / "task.toml").write_text('[environment]\nos = "windows"\n')
    write(folder, {"tests/test.bat": "exit 0", "solution/solve.bat": "exit 0"})
    task = load(folder)
    assert task.verifier.graders[0].name == "tests/test.bat"
    assert task.oracle.entry.path.name == "solve.bat"


# ---------------------------------------------------------------- images


def test_a_prebuilt_image_needs_no_dockerfile(folder):
    (folder / "environment/Dockerfile").unlink()
    (folder / "task.toml").write_text(f'[environment]\ndocker_image = "{PINNED}"\n')
    task = load(folder)
    assert unmet(task) == []
    (image,) = task.environment.images
    assert (image.reference, image.place) == (PINNED, Place.AGENT)
    assert image.span.text == f'"{PINNED}"'


def test_services_of_a_compose_file(folder):
    write(
        folder,
        {
            "environment/docker-compose.yaml": (
                "services:\n  main:\n    depends_on: [api]\n  api:\n    build: {context: ./api, args: [MODE=test]}\n"
                "  db:\n    image: postgres:16\n"
            ),
            "environment/api/Dockerfile": f"FROM {PINNED}\n",
        },
    )
    task = load(folder)
    environment = task.environment
    builds = {b.service: (b.place, b.context, b.arguments) for b in environment.builds}
    assert builds == {
        "api": (Place.SERVICE, "environment/api", {"MODE": "test"}),
        "main": (Place.AGENT, "environment", {}),
    }
    assert [(i.service, i.reference, i.place) for i in environment.images] == [("db", "postgres:16", Place.SERVICE)]
    assert [d.name for d in task.documents] == ["task.toml", "environment/docker-compose.yaml"]


def test_main_may_be_built_from_another_file_of_the_compose_file(folder):
    write(
        folder,
        {
            "environment/docker-compose.yaml": "services:\n  main:\n    build: {context: ., dockerfile: Own}\n",
            "environment/Own": f"FROM {PINNED}\nWORKDIR /own\n",
        },
    )
    environment = load(folder).environment
    assert [b.fragment.path.name for b in environment.builds] == ["Own"]
    assert environment.workdir == "/own"


@pytest.mark.parametrize(
    ("toml", "files", "isolation"),
    [
        ("", {}, Isolation.SHARED),
        ('[verifier]\nenvironment_mode = "separate"\n', {}, Isolation.SEPARATE),
        ("[verifier.environment]\ncpus = 1\n", {}, Isolation.SEPARATE),
        ("", {"tests/Dockerfile": f"FROM {PINNED}\nWORKDIR /judge\n"}, Isolation.SEPARATE),
        ('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\n', {}, Isolation.SHARED),
    ],
)
def test_where_the_verifier_runs(folder, toml, files, isolation):
    (folder / "task.toml").write_text(toml)
    verifier = load(write(folder, files)).verifier
    assert verifier.isolation is isolation
    assert verifier.workdir == ("/judge" if files else "/app")


def test_a_verifier_image_of_its_own_is_listed_as_the_verifiers(folder):
    (folder / "task.toml").write_text(f'[verifier.environment]\ndocker_image = "{PINNED}"\n')
    (folder / "tests/test.sh").unlink()
    task = load(folder)
    assert unmet(task) == []
    assert [i.place for i in task.environment.images] == [Place.VERIFIER]


# ---------------------------------------------------------------- several steps

STEPS = """
[agent]
timeout_sec = 100

[[steps]]
name = "draft"
[steps.agent]
timeout_sec = 50
[steps.verifier.env]
ROWS = "3"

[[steps]]
name = "review"
"""


@pytest.fixture
def stepped(folder):
    (folder / "task.toml").write_text(STEPS)
    (folder / "instruction.md").unlink()
    return write(
        folder,
        {
            "steps/draft/instruction.md": "Write it.",
            "steps/draft/tests/test.sh": "exit 0\n",
            "steps/draft/solution/solve.sh": "echo 1\n",
            "steps/draft/workdir/notes.txt": "x",
            "steps/review/instruction.md": "Shorten it.",
            "steps/forgotten/instruction.md": "Never.",
        },
    )


def test_every_step_has_its_brief_grader_and_limits(stepped):
    task = load(stepped)
    assert unmet(task) == []
    assert [(b.step, b.prose.text) for b in task.briefs] == [("draft", "Write it."), ("review", "Shorten it.")]
    assert [g.name for g in task.verifier.graders] == ["steps/draft/tests/test.sh", "tests/test.sh"]
    agent = [(limit.value.value, limit.value.span.line) for limit in task.budget.limits if limit.name == "agent"]
    assert agent == [(50, 8), (100, 3)]
    assert task.verifier.env["ROWS"].value == "3"
    assert task.oracle.entry.path == stepped / "steps/draft/solution/solve.sh"
    assert "steps/draft/workdir/notes.txt" in task.environment.files
    assert "steps/forgotten/instruction.md" not in task.known_files


def test_a_step_without_its_files_is_named(stepped):
    (stepped / "steps/review/instruction.md").unlink()
    (stepped / "solution/solve.sh").unlink()
    (stepped / "tests/test.sh").unlink()
    task = load(stepped)
    assert unmet(task) == [
        "steps/review/instruction.md",
        "steps/review/tests/test.sh",
        "steps/review/solution/solve.sh",
    ]


def test_steps_are_found_when_task_toml_cannot_be_read(stepped):
    (stepped / "task.toml").write_text("[[steps]\n")
    assert [b.step for b in load(stepped).briefs] == ["draft", "forgotten", "review"]
