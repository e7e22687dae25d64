"""What each format's plan says of a trial, and what is said where there can be none."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from scenlint.config import Settings, load
from scenlint.formats.planning import Passed, megabytes
from scenlint.lint.discover import Finder, format_named
from scenlint.task.plan import (
    SUBMISSION,
    VERIFIER,
    WORKSPACE,
    Build,
    Image,
    Network,
    NotRunnableError,
    Reader,
    RunPlan,
    Upload,
    Where,
)
from scenlint.task.policy import Policy
from scenlint.testing import base_task

ROOT = Path(__file__).parents[2]
LOGS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")


def plan(folder: Path, policy: Policy | None = None, key: str | None = None) -> RunPlan:
    refs = Finder(Settings(root=folder)).discover([folder]).refs
    ref = next(r for r in refs if key is None or r.key == key)
    form = format_named(ref.format)
    return form.plan(form.load(ref, policy or Policy()))


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def refused(folder: Path, policy: Policy | None = None) -> str:
    with pytest.raises(NotRunnableError) as caught:
        plan(folder, policy)
    return str(caught.value)


def test_every_example_task_has_a_plan():
    settings = load(ROOT / "tasks")
    refs = Finder(settings).discover([ROOT / "tasks"]).refs
    assert {ref.format for ref in refs} == {
        "harbor", "terminal-bench", "saas-bench", "waza", "deepgym", "packet",
    }  # fmt: skip
    for ref in refs:
        form = format_named(ref.format)
        made = form.plan(form.load(ref, settings.policy))
        assert made.steps
        assert made.unsafe == ()


def test_sizes_are_read_with_their_units():
    assert [megabytes(t) for t in ("2G", "512M", "1.5g", "2 GiB", "1048576", "100k")] == [2048, 512, 1536, 2048, 1, 1]
    assert megabytes("much") is None


# ---------------------------------------------------------------- Harbor


@pytest.fixture
def harbor(tmp_path):
    return base_task("harbor", tmp_path / "product")


def toml(folder: Path, text: str) -> Path:
    return write(folder, {"task.toml": text})


def test_a_harbor_task_is_a_container_with_its_tests_laid_over_it(harbor):
    made = plan(harbor)
    assert made.container is not None
    assert made.container.image == Image(build=Build(harbor / "environment"))
    assert (made.container.folders, made.container.command) == (LOGS, None)
    (step,) = made.steps
    verify = step.verify
    assert (verify.where, verify.reader) == (Where.CONTAINER, Reader.REWARD_FILE)
    assert verify.overlay == (Upload(harbor / "tests", "/tests", clear=True, executable=True),)
    assert verify.verdict_paths == ("/logs/verifier/reward.json", "/logs/verifier/reward.txt")
    (check,) = verify.checks
    assert check.command.argv[:2] == ("bash", "-c")
    assert check.command.argv[2].startswith("(/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1;")
    assert step.oracle is not None
    assert step.oracle.uploads == (Upload(harbor / "solution", "/solution", executable=True),)
    assert step.oracle.command is not None
    assert step.oracle.command.argv[2].startswith("(/solution/solve.sh) > /logs/agent/oracle.txt 2>&1;")
    assert step.oracle.command.env == (("DEBIAN_FRONTEND", "noninteractive"),)


def test_a_harbor_tasks_settings_are_kept(harbor):
    toml(
        harbor,
        """
        artifacts = ["/app/out"]
        [agent]
        timeout_sec = 100
        user = 1000
        [verifier]
        timeout_sec = 30
        user = "root"
        env = { MODE = "strict" }
        [[verifier.collect]]
        command = "dump"
        service = "db"
        [environment]
        build_timeout_sec = 50
        cpus = 1.5
        memory = "2G"
        storage_mb = 300
        workdir = "/srv"
        network_mode = "allowlist"
        allowed_hosts = ["example.org"]
        env = { LEVEL = "${LEVEL:-3}" }
        [environment.healthcheck]
        command = "curl -f localhost"
        interval_sec = 2
        timeout_sec = 4
        start_period_sec = 10
        retries = 5
        [solution]
        env = { HINT = "x" }
        """,
    )
    made = plan(harbor)
    container, (step,) = made.container, made.steps
    assert container is not None
    assert (container.limits.cpus, container.limits.memory_mb, container.limits.storage_mb) == (1.5, 2048, 300)
    assert (container.workdir, container.build_timeout, container.env) == ("/srv", 50.0, (("LEVEL", "3"),))
    assert (made.network, made.allowed_hosts) == (Network.ALLOWLIST, ("example.org",))
    probe = container.probe
    assert probe is not None
    assert probe.command is not None
    assert probe.command.argv == ("bash", "-c", "curl -f localhost")
    assert (probe.command.timeout, probe.interval, probe.start_period, probe.retries) == (4.0, 2.0, 10.0, 5)
    assert probe.timeout >= 10 + 5 * (2 + 4)
    assert (step.agent_timeout, step.agent_user) == (100.0, "1000")
    assert step.oracle is not None
    assert step.oracle.command is not None
    assert step.oracle.command.user == "1000"
    assert ("HINT", "x") in step.oracle.command.env
    assert step.verify.timeout == 30.0
    assert (step.verify.checks[0].command.user, step.verify.checks[0].command.env) == ("root", (("MODE", "strict"),))
    assert step.verify.artifacts == ()  # nothing is carried over where the verifier shares the container
    (hook,) = step.verify.collect
    assert (hook.command.argv, hook.command.timeout, hook.service) == (("bash", "-c", "dump"), 60.0, "db")


@pytest.mark.parametrize(
    ("settings", "network", "verifiers"),
    [
        ("", Network.PUBLIC, None),
        ("[environment]\nallow_internet = false", Network.NONE, None),
        ("[environment]\nallow_internet = true\nnetwork_mode = 'no-network'", Network.NONE, None),
        ("[environment]\nnetwork_mode = 'allowlist'", Network.NONE, None),
        ("[agent]\nnetwork_mode = 'no-network'", Network.NONE, Network.PUBLIC),
        ("[verifier]\nnetwork_mode = 'no-network'", Network.PUBLIC, Network.NONE),
        ("[environment]\nnetwork_mode = 'no-network'\n[verifier.environment]", Network.NONE, Network.PUBLIC),
    ],
)
def test_agent_and_verifier_have_the_network_that_is_stated(harbor, settings, network, verifiers):
    made = plan(toml(harbor, settings))
    assert (made.network, made.steps[0].verify.network) == (network, verifiers)


def test_variables_of_this_machine_are_passed_on_only_where_the_configuration_says_so(harbor, monkeypatch):
    monkeypatch.setenv("API_KEY", "s3cret")
    toml(harbor, '[verifier]\nenv = { KEY = "${API_KEY}", MODEL = "${MODEL:-small}" }')
    assert "name it under `pass-env`" in refused(harbor)
    first = plan(harbor, Policy(pass_env=("API_KEY",)))
    assert dict(first.steps[0].verify.checks[0].command.env) == {"KEY": "s3cret", "MODEL": "small"}
    monkeypatch.setenv("API_KEY", "another")
    second = plan(harbor, Policy(pass_env=("API_KEY",)))
    assert dict(first.digests) == dict(second.digests)
    monkeypatch.delenv("API_KEY")
    assert "it is not set" in refused(harbor, Policy(pass_env=("API_KEY",)))


def test_a_prebuilt_image_comes_before_the_dockerfile(harbor):
    toml(harbor, '[environment]\ndocker_image = "example/app:1"')
    made = plan(harbor)
    assert made.container is not None
    assert made.container.image == Image("example/app:1")
    (harbor / "environment/Dockerfile").unlink()
    assert "the working folder is not known" in refused(harbor)
    toml(harbor, '[environment]\ndocker_image = "example/app:1"\nworkdir = "/app"')
    assert plan(harbor).steps[0].uploads == (Upload(harbor / "environment", "/app"),)


def test_a_separate_verifier_has_its_own_image_and_what_is_carried_over(harbor):
    toml(
        harbor,
        """
        artifacts = ["out.csv", { source = "/data/dump", service = "db" }]
        [verifier.environment]
        memory_mb = 256
        [environment]
        workdir = "/srv"
        memory_mb = 512
        """,
    )
    inherited = plan(harbor).steps[0].verify
    assert inherited.where is Where.SEPARATE
    assert inherited.container is not None
    assert inherited.container.image == Image(build=Build(harbor / "environment"))
    assert inherited.container.limits.memory_mb == 256
    assert inherited.overlay  # that image knows nothing of the tests
    assert inherited.artifacts == ("/logs/artifacts", "/srv/out.csv")
    assert inherited.service_artifacts == (("db", "/data/dump"),)

    write(harbor, {"tests/Dockerfile": "FROM debian:12\nCOPY . /tests\n"})
    own = plan(harbor).steps[0].verify
    assert own.container is not None
    assert own.container.image == Image(build=Build(harbor / "tests"))
    assert own.overlay == ()

    toml(harbor, '[verifier.environment]\ndocker_image = "example/judge:1"')
    stated = plan(harbor).steps[0].verify
    assert stated.container is not None
    assert (stated.container.image, stated.overlay) == (Image("example/judge:1"), ())

    write(harbor, {"tests/docker-compose.yaml": "services: {main: {image: x}}"})
    toml(harbor, "[verifier.environment]")
    assert "a verifier that is a compose project is not run here" in refused(harbor)


def test_what_the_image_has_in_the_tests_folder_is_kept(harbor):
    dockerfile = (harbor / "environment/Dockerfile").read_text()
    write(harbor, {"environment/Dockerfile": dockerfile + "ENV TEST_DIR=/tests\n"})
    assert plan(harbor).steps[0].verify.overlay[0].clear
    write(harbor, {"environment/Dockerfile": dockerfile + "COPY data /tests/data\n"})
    assert not plan(harbor).steps[0].verify.overlay[0].clear


def test_files_that_harborignore_names_are_not_copied(harbor):
    write(harbor, {"tests/.harborignore": "*.md\ndrafts/\n", "tests/NOTES.md": "", "tests/drafts/a.py": ""})
    assert set(plan(harbor).steps[0].verify.overlay[0].exclude) == {".harborignore", "NOTES.md", "drafts/a.py"}
    write(harbor, {"tests/.harborignore": "test.sh\n"})
    assert "kept out by .harborignore" in refused(harbor)


STEPS = """
multi_step_reward_strategy = "final"
[agent]
user = "agent"
[environment]
workdir = "/app"
[[steps]]
name = "first"
min_reward = 0.5
[steps.agent]
timeout_sec = 10
[steps.healthcheck]
command = "true"
[[steps]]
name = "second"
[steps.min_reward]
reward = 1.0
style = 0.2
[steps.verifier]
timeout_sec = 20
"""


@pytest.fixture
def stepwise(harbor):
    toml(harbor, STEPS)
    return write(
        harbor,
        {
            "steps/first/instruction.md": "Do one thing.",
            "steps/second/instruction.md": "<!-- canary -->\nDo another.",
            "steps/first/workdir/setup.sh": "true\n",
            "steps/first/tests/test.sh": "#!/bin/bash\n",
            "steps/first/solution/solve.sh": "#!/bin/bash\n",
        },
    )


def test_steps_have_their_own_files_and_those_of_the_task(stepwise):
    made = plan(stepwise)
    first, second = made.steps
    assert made.reward_strategy == "final"
    assert (first.name, first.brief, second.name, second.brief) == (
        "first", "Do one thing.", "second", "Do another.",
    )  # fmt: skip
    assert first.uploads == (Upload(stepwise / "steps/first/workdir", "/app"),)
    assert first.setup is not None
    assert (first.setup.argv, first.setup.user) == (("bash", "/app/setup.sh"), "agent")
    assert first.probe is not None
    assert (first.min_reward, first.min_rewards) == (0.5, ())
    assert (second.min_reward, second.min_rewards) == (1.0, (("style", 0.2),))
    assert (first.agent_timeout, second.agent_timeout, second.verify.timeout) == (10.0, None, 20.0)
    # The task's tests, then the step's over them; the folder is emptied once.
    assert [(u.source, u.clear) for u in first.verify.overlay] == [
        (stepwise / "tests", True), (stepwise / "steps/first/tests", False),
    ]  # fmt: skip
    assert [u.source for u in second.verify.overlay] == [stepwise / "tests"]
    assert first.oracle is not None
    assert second.oracle is not None
    assert first.oracle.uploads[0].source == stepwise / "steps/first/solution"
    assert second.oracle.uploads[0].source == stepwise / "solution"
    assert (second.uploads, second.setup, second.probe) == ((), None, None)


def test_a_compose_file_keeps_what_harbor_says_of_main(harbor, monkeypatch):
    monkeypatch.setenv("TOKEN", "t0ken")
    toml(harbor, '[environment]\ncpus = 2\nmemory_mb = 512\nenv = { A = "1" }')
    compose = {"services": {"main": {"depends_on": ["db"]}, "db": {"image": "db:1", "environment": ["T=${TOKEN}"]}}}
    write(harbor, {"environment/docker-compose.yaml": yaml.safe_dump(compose)})
    made = plan(harbor, Policy(pass_env=("TOKEN", "OTHER")))
    assert made.container is None
    assert made.compose is not None
    assert (made.compose.main, made.compose.folder) == ("main", harbor / "environment")
    assert made.compose.container is not None
    assert made.compose.container.image == Image(build=Build(harbor / "environment"))
    env = dict(made.compose.env)
    assert (env["CPUS"], env["MEMORY"], env["A"], env["TOKEN"]) == ("2", "512M", "1", "t0ken")
    assert env["HOST_VERIFIER_LOGS_PATH"] == "{logs}/verifier"
    assert "OTHER" not in env
    assert made.unsafe == ()

    compose["services"]["main"] = {"build": ".", "privileged": True, "volumes": ["/:/host"]}
    write(harbor, {"environment/docker-compose.yaml": yaml.safe_dump(compose)})
    made = plan(harbor)
    assert made.compose is not None
    assert made.compose.container is not None
    assert made.compose.container.image == Image()  # the file itself says how it is built
    assert made.unsafe == ("host-mount", "privileged")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("[agent", "task.toml, line 1"),
        ("[agent]\ntimeout_sec = 'long'", "`agent.timeout_sec` in task.toml is 'long'; it must be a number"),
        ("[agent]\ntimeout_sec = 0", "a number above 0"),
        ("[agent]\nuser = true", "the name or number of a user"),
        ("[verifier]\nenv = { A = 1 }", "the value of a variable must be text"),
        ("[verifier]\nenvironment_mode = 'remote'", "shared or separate"),
        ("[environment]\nos = 'windows'", "only Linux containers"),
        ("[environment]\ngpus = 1", "asks for a GPU"),
        ("[environment]\nmemory = 'lots'", "a size such as 2G"),
        ("[environment]\nnetwork_mode = 'some'", "one of public, no-network, allowlist"),
        ("[environment]\nallowed_hosts = ['x.org']", "only with `network_mode"),
        ("[environment.healthcheck]\nretries = 1", "has no command"),
        ("[verifier]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['x.org']", "the verifier may reach only some hosts"),
        ("multi_step_reward_strategy = 'best'", "mean or final"),
        ("artifacts = ['../x']\n[verifier.environment]", "without `..`"),
    ],
)
def test_a_harbor_task_that_cannot_run_says_what_to_change(harbor, settings, says):
    assert says in refused(toml(harbor, settings))


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("tests/test.sh", "`tests/test.sh` is missing"),
        ("environment/Dockerfile", "names no `docker_image`"),
        ("instruction.md", "there is no brief"),
        ("task.toml", "task.toml is missing"),
    ],
)
def test_a_harbor_task_without_a_file_says_which(harbor, path, says):
    (harbor / path).unlink()
    assert says in refused(harbor)


def test_without_a_solution_there_is_no_oracle(harbor):
    (harbor / "solution/solve.sh").unlink()
    assert plan(harbor).steps[0].oracle is None


def test_no_link_leads_out_of_the_task(harbor, tmp_path):
    (tmp_path / "outside").write_text("#!/bin/bash\n")
    (harbor / "tests/test.sh").unlink()
    (harbor / "tests/test.sh").symlink_to(tmp_path / "outside")
    assert "a link that leads out of the task" in refused(harbor)


# ---------------------------------------------------------------- Terminal-Bench


@pytest.fixture
def legacy(tmp_path):
    return base_task("terminal-bench", tmp_path / "product")


def client(folder: Path, **changes: object) -> Path:
    data = yaml.safe_load((folder / "docker-compose.yaml").read_text())
    data["services"]["client"].update(changes)
    return write(folder, {"docker-compose.yaml": yaml.safe_dump(data)})


def test_the_usual_compose_file_is_one_container(legacy):
    client(legacy, deploy={"resources": {"limits": {"cpus": "1.5", "memory": "1G"}}}, working_dir="/app")
    made = plan(legacy)
    container, (step,) = made.container, made.steps
    assert made.compose is None
    assert container is not None
    assert container.image == Image(build=Build(legacy))
    assert (container.command, container.workdir, container.folders) == (None, "/app", ("/logs", "/agent-logs"))
    assert (container.limits.cpus, container.limits.memory_mb) == (1.5, 1024)
    assert dict(container.env)["TEST_DIR"] == "/tests"
    assert made.network is Network.PUBLIC
    assert [(u.source, u.target) for u in step.verify.overlay] == [
        (legacy / "tests", "/tests"), (legacy / "run-tests.sh", "/tests/run-tests.sh"),
    ]  # fmt: skip
    assert step.verify.overlay[0].clear
    (check,) = step.verify.checks
    assert (check.command.argv, check.command.env) == (("bash", "/tests/run-tests.sh"), (("TEST_DIR", "/tests"),))
    assert check.command.user == "root"
    assert (step.verify.reader, step.verify.parser) == (Reader.TEST_SUMMARY, "pytest")
    assert step.oracle is not None
    assert step.oracle.uploads == (Upload(legacy / "solution.sh", "/oracle/solution.sh"),)
    assert step.oracle.command is not None
    assert step.oracle.command.argv == ("bash", "/oracle/solution.sh")


def test_tests_in_the_agents_shell_run_as_the_agent(legacy):
    file = legacy / "task.yaml"
    file.write_text(file.read_text() + "run_tests_in_same_shell: true\n")
    assert plan(legacy).steps[0].verify.checks[0].command.user is None


@pytest.mark.parametrize(
    "changes",
    [
        {"volumes": ["data:/data"]},
        {"depends_on": ["db"]},
        {"environment": ["FROM_THE_HOST"]},
        {"environment": {"NAME": "${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}"}},
        {"build": {"context": ".", "network": "host"}},
        {"network_mode": "host"},
        {"deploy": {"replicas": 2}},
        {"cap_add": ["NET_ADMIN"]},
    ],
)
def test_what_one_container_cannot_give_is_left_to_compose(legacy, changes):
    made = plan(client(legacy, **changes))
    assert made.container is None
    assert made.compose is not None
    assert (made.compose.main, made.compose.files) == ("client", (legacy / "docker-compose.yaml",))
    env = dict(made.compose.env)
    assert env["T_BENCH_TEST_DIR"] == "/tests"
    assert env["T_BENCH_TASK_LOGS_PATH"] == "{logs}/logs"


def test_two_services_are_left_to_compose(legacy):
    data = yaml.safe_load((legacy / "docker-compose.yaml").read_text())
    data["services"]["db"] = {"image": "db:1"}
    write(legacy, {"docker-compose.yaml": yaml.safe_dump(data)})
    assert plan(legacy).compose is not None


def test_a_client_may_have_a_program_and_no_network(legacy):
    made = plan(client(legacy, command="python3 -m http.server '80'", network_mode="none", image="x"))
    assert made.container is not None
    assert made.container.command == ("python3", "-m", "http.server", "80")
    assert made.network is Network.NONE


def test_plain_commands_of_solution_yaml_are_run_and_keys_are_not(legacy):
    (legacy / "solution.sh").unlink()
    steps = [{"command": "echo 1", "block": True}, {"command": "echo 2", "block": True, "min_timeout_sec": 1}]
    write(legacy, {"solution.yaml": yaml.safe_dump(steps)})
    oracle = plan(legacy).steps[0].oracle
    assert oracle is not None
    assert oracle.command is not None
    assert oracle.command.argv == ("bash", "-c", "echo 1\necho 2")
    write(legacy, {"solution.yaml": yaml.safe_dump([*steps, {"command": "vim a.txt", "block": False}])})
    assert "write it as solution.sh" in refused(legacy)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"docker-compose.yaml": "services: {main: {image: x}}"}, "no service `client`"),
        ({"docker-compose.yaml": "services: ["}, "docker-compose.yaml, line"),
        ({"task.yaml": "instruction: Do it.\nmax_agent_timeout_sec: soon\n"}, "it must be a number"),
    ],
)
def test_a_legacy_task_that_cannot_run_says_what_to_change(legacy, changes, says):
    assert says in refused(write(legacy, changes))


# ---------------------------------------------------------------- SaaS-Bench


@pytest.fixture
def saas(tmp_path):
    return base_task("saas-bench", tmp_path / "suite")


def apps(folder: Path, **settings: object) -> Path:
    return write(folder, {"apps.yaml": yaml.safe_dump({"apps": {"mattermost": {"app_index": 0, **settings}}})})


def test_an_app_is_started_and_verified_while_it_is_alive(saas):
    made = plan(saas)
    task = next(saas.glob("tasks/*/*/*"))
    (app,) = made.apps
    assert app.run[:5] == ("docker", "run", "-d", "--name", "{container}")
    assert (app.container, app.database, app.variable) == ("{prefix}", "{prefix}", "MATTERMOST")
    assert (app.probe.http_path, app.probe.timeout, app.probe.interval) == ("/api/v4/system/ping", 240.0, 2.0)
    (step,) = made.steps
    assert (step.verify.where, step.verify.reader, step.verify.timeout) == (Where.LOCAL, Reader.POINT_LINES, 300.0)
    assert step.verify.overlay == (Upload(task, VERIFIER),)
    assert step.verify.checks[0].command.argv == ("python3", f"{VERIFIER}/verify.py")
    assert (step.oracle, made.network) == (None, Network.NONE)


TEMPLATE = """
services:
  $prefix-postgres:
    image: postgres
    container_name: $prefix-postgres
  $prefix:
    image: app
    container_name: ${prefix}
"""


def test_containers_of_a_compose_app_are_named_as_its_template_names_them(saas):
    write(saas, {"docker/chat.yml.tpl": TEMPLATE})
    apps(saas, start_type="compose", compose_template_file="docker/chat.yml.tpl")
    (app,) = plan(saas).apps
    assert (app.template, app.run) == (saas / "docker/chat.yml.tpl", ())
    assert (app.container, app.database) == ("{prefix}", "{prefix}-postgres")
    write(saas, {"docker/chat.yml.tpl": TEMPLATE.replace("$prefix-postgres", "$prefix-store")})
    (app,) = plan(saas).apps
    assert (app.container, app.database) == ("{prefix}", "{prefix}")
    write(saas, {"docker/chat.yml.tpl": TEMPLATE.replace("    container_name", "    #")})
    assert "no `container_name`" in refused(saas)


def test_what_an_app_asks_of_the_machine_is_named(saas):
    apps(saas, start="docker run -d --privileged -v /var/run/docker.sock:/s {repo_root}")
    made = plan(saas)
    assert made.unsafe == ("docker-socket", "privileged")
    assert made.apps[0].run[-1] == str(saas)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "no `start` command"),
        ({"start": "docker pull x && docker run x"}, "must be one `docker run …`"),
        ({"start": "docker run 'x"}, "cannot be read"),
        ({"start": "docker run x", "startup_wait": "long"}, "a time in seconds"),
        ({"start_type": "compose"}, "the compose template of `mattermost`"),
    ],
)
def test_an_app_that_cannot_be_started_says_why(saas, settings, says):
    assert says in refused(apps(saas, **settings))


def test_a_task_whose_apps_are_unknown_says_so(saas):
    write(saas, {"apps.yaml": "apps: {wiki: {}}"})
    assert "none of its applications (`mattermost`) is in apps.yaml" in refused(saas)
    (saas / "apps.yaml").unlink()
    assert "no apps.yaml was found" in refused(saas)


def test_a_solution_may_be_named_by_the_configuration(saas, tmp_path):
    script = tmp_path / "solutions" / "teamwork_001.py"
    by_pattern = Policy(oracles={"teamwork_*": str(tmp_path / "solutions/{id}.py")})
    assert plan(saas, by_pattern).steps[0].oracle is None
    write(tmp_path, {"solutions/teamwork_001.py": "print()\n"})
    oracle = plan(saas, by_pattern).steps[0].oracle
    assert oracle is not None
    assert oracle.uploads == (Upload(script, "/oracle/teamwork_001.py", executable=True),)
    assert oracle.command is not None
    assert oracle.command.argv == ("python3", "/oracle/teamwork_001.py")
    assert "there is no such file" in refused(saas, Policy(oracles={"teamwork_001": "/nowhere/x.sh"}))


def test_the_configuration_file_names_solutions_and_variables(tmp_path):
    write(tmp_path, {"scenlint.toml": 'pass-env = ["TOKEN"]\n[oracles]\n"crm_*" = "solutions/{id}.sh"\n'})
    policy = load(tmp_path).policy
    assert policy.pass_env == ("TOKEN",)
    assert policy.oracles == {"crm_*": str(tmp_path / "solutions/{id}.sh")}


def test_input_files_are_handed_to_the_agent(saas):
    task = next(saas.glob("tasks/*/*/*"))
    meta = json.loads((task / "meta.json").read_text())
    meta["multimodal_input"] = [{"file": "assets/a.png"}, {"file": "../x"}, {"file": "assets/none.png"}]
    write(saas, {"assets/a.png": b"\x89PNG", str(task / "meta.json"): json.dumps(meta)})
    assert plan(saas).steps[0].uploads == (Upload(saas / "assets/a.png", f"{WORKSPACE}/assets/a.png"),)


# ---------------------------------------------------------------- Waza


@pytest.fixture
def waza(tmp_path):
    return base_task("waza", tmp_path / "suite")


def graders(folder: Path, *entries: dict[str, object], **changes: object) -> Path:
    data = yaml.safe_load((folder / "eval.yaml").read_text()) | {"graders": list(entries)} | changes
    return write(folder, {"eval.yaml": yaml.safe_dump(data)})


def program(*argv: str, **more: object) -> dict[str, object]:
    return {"type": "program", "name": "check", "config": {"command": argv[0], "args": list(argv[1:])}, **more}


def inputs(folder: Path, **changes: object) -> Path:
    (path,) = folder.glob("tasks/*.yaml")
    data = yaml.safe_load(path.read_text())
    data["inputs"].update(changes.pop("inputs", {}))
    return write(folder, {str(path): yaml.safe_dump(data | changes)})


def test_a_program_grader_is_a_check_in_the_folder_of_the_eval(waza):
    made = plan(waza)
    (step,) = made.steps
    verify = step.verify
    (check,) = verify.checks
    assert check.command.argv == ("python3", "graders/check_product.py")
    assert (check.command.cwd, check.command.timeout) == (VERIFIER, 30.0)
    assert (verify.where, verify.reader, verify.agent_output) == (Where.LOCAL, Reader.EXIT_STATUS, True)
    assert [(u.source, u.target) for u in verify.overlay] == [(waza, VERIFIER)]
    assert verify.workspace_variable == "WAZA_WORKSPACE_DIR"
    ((variable, name, content),) = verify.private_files
    context = json.loads(content)
    assert (variable, name, context["version"]) == ("WAZA_GRADING_CONTEXT", "context.json", 1)
    assert (context["transcript"], context["tool_events"]) == ([], None)
    assert made.inline_files == (("factors.txt", "6\n7\n"),)
    assert (step.agent_timeout, step.oracle) == (300.0, None)


def test_a_grader_named_from_the_repository_is_run_there(tmp_path):
    repository = tmp_path / "repo"
    folder = base_task("waza", repository / "evals/product")
    write(repository, {".git/HEAD": "", "tools/lib.py": "", "tools/check.py": ""})
    graders(
        folder,
        program("python3", "evals/product/graders/check_product.py", name="a"),
        program("bash", "-c", "exec python3 tools/check.py", name="b"),
        program("python3", "graders/check_product.py", name="c"),
    )
    verify = plan(folder).steps[0].verify
    assert [c.command.cwd for c in verify.checks] == [VERIFIER, VERIFIER, f"{VERIFIER}/evals/product"]
    assert [(u.source, u.target) for u in verify.overlay] == [
        (folder, f"{VERIFIER}/evals/product"), (repository / "tools", f"{VERIFIER}/tools"),
    ]  # fmt: skip


def test_files_of_the_workspace_come_from_the_context_folder(waza):
    write(waza, {"fixtures/a/b.bin": b"\xff", "fixtures/c.txt": "c"})
    listed = [{"path": "a/b.bin"}, {"path": "missing.txt"}, {"path": "../eval.yaml"}, {"path": "d.txt", "content": "d"}]
    inputs(waza, inputs={"files": listed})
    made = plan(waza)
    assert made.steps[0].uploads == (Upload(waza / "fixtures/a/b.bin", f"{WORKSPACE}/a/b.bin"),)
    assert made.inline_files == (("d.txt", "d"),)


def test_declared_graders_are_evaluated_where_output_and_workspace_are_enough(waza):
    write(waza, {"fixtures/expected.txt": "42\n"})
    graders(
        waza,
        {"type": "text", "name": "says", "config": {"contains": ["42"]}},
        {"type": "diff", "name": "same", "config": {"expected_files": [{"path": "a", "snapshot": "expected.txt"}]}},
    )
    verify = plan(waza).steps[0].verify
    says, same = verify.checks
    assert says.command.argv[:3] == ("python3", "-I", "/waza/evaluator.py")
    assert json.loads(says.command.argv[3])["contains"] == ["42"]
    (entry,) = json.loads(same.command.argv[3])["expected_files"]
    targets = {u.target: u.source for u in verify.overlay}
    assert targets[entry["snapshot"]] == waza / "fixtures/expected.txt"
    assert targets["/waza/evaluator.py"].is_file()


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([{"type": "prompt", "name": "judge", "config": {}}], "only Waza can evaluate `judge` (prompt)"),
        ([{"type": "behavior", "name": "few", "config": {}}], "`few` (behavior)"),
        ([program("python3", "graders/none.py")], "names `graders/none.py`, which is not there"),
        ([{"type": "program", "name": "empty", "config": {}}], "it has no `command`"),
        ([], "no grader is declared"),
    ],
)
def test_a_grader_that_cannot_be_run_is_named(waza, entries, says):
    assert says in refused(graders(waza, *entries))


def test_a_waza_task_that_is_off_or_wants_more_is_refused(waza):
    assert "switches the task off" in refused(inputs(waza, enabled=False))
    inputs(waza, enabled=True, inputs={"repo": "https://example.org/x.git"})
    assert "fetches a repository" in refused(waza)
    inputs(waza, inputs={"repo": None})
    graders(waza, program("true"), hooks={"before_task": [{"command": "make"}]})
    assert "`hooks`" in refused(waza)


# ---------------------------------------------------------------- DeepGym


@pytest.fixture
def deepgym(tmp_path):
    return base_task("deepgym", tmp_path / "product")


def metadata(folder: Path, **changes: object) -> Path:
    data = json.loads((folder / "metadata.json").read_text()) | changes
    return write(folder, {"metadata.json": json.dumps(data)})


def test_a_deepgym_verifier_judges_the_submission(deepgym):
    write(deepgym, {"data/cases.json": "[]"})
    metadata(deepgym, support_files=["data/cases.json"], timeout=60, case_timeout=5, verifier_mode="script")
    made = plan(deepgym)
    (step,) = made.steps
    (check,) = step.verify.checks
    assert check.command.argv == ("python3", "verifier.py", SUBMISSION)
    assert (check.command.cwd, check.command.timeout) == (VERIFIER, 60.0)
    assert dict(check.command.env) == {"SCENLINT_VERIFIER_MODE": "script", "SCENLINT_CASE_TIMEOUT": "5"}
    assert step.verify.timeout >= 65
    assert (step.verify.where, step.verify.reader, step.verify.helper) == (
        Where.LOCAL, Reader.JSON_LINE, "deepgym_solution",
    )  # fmt: skip
    assert [u.target for u in step.verify.overlay] == [f"{VERIFIER}/verifier.py", f"{VERIFIER}/cases.json"]
    assert step.oracle is not None
    assert step.oracle.submission == deepgym / "reference_solution.py"


def test_metadata_are_optional(deepgym):
    (deepgym / "metadata.json").unlink()
    (check,) = plan(deepgym).steps[0].verify.checks
    assert check.command.timeout == 30.0
    assert dict(check.command.env)["SCENLINT_VERIFIER_MODE"] == "auto"


def test_a_support_file_may_be_shared_by_the_suite_and_by_nobody_else(deepgym):
    write(deepgym.parent, {"_shared/checks.py": ""})
    metadata(deepgym, support_files=["../_shared/checks.py"])
    assert plan(deepgym).steps[0].verify.overlay[1].source == deepgym.parent / "_shared/checks.py"
    write(deepgym.parent.parent, {"outside.py": ""})
    assert "does not belong to the suite" in refused(metadata(deepgym, support_files=["../../outside.py"]))
    assert "has the name of another file" in refused(
        metadata(write(deepgym, {"a/verifier.py": ""}), support_files=["a/verifier.py"])
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"type": "multi-turn"}, "it is a `multi-turn` task"),
        ({"type": "computer-use"}, "it is a `computer-use` task"),
        ({"image": "python:3.12"}, "names the image"),
        ({"timeout": "long"}, "it must be a number"),
        ({"support_files": ["none.py"]}, "`none.py` is missing"),
        ({"verifier_mode": "magic"}, "one of auto, script"),
    ],
)
def test_a_deepgym_task_that_cannot_run_says_why(deepgym, changes, says):
    assert says in refused(metadata(deepgym, **changes))


def test_a_patch_for_a_repository_is_refused(deepgym):
    assert "a whole repository" in refused(write(deepgym, {"test_patch.diff": "--- a\n+++ b\n"}))


# ---------------------------------------------------------------- packets


@pytest.fixture
def packet(tmp_path):
    return base_task("packet", tmp_path / "packet")


def declared(folder: Path, **changes: object) -> Path:
    data = json.loads((folder / "packet.json").read_text()) | changes
    return write(folder, {"packet.json": json.dumps(data)})


def test_a_packet_runs_in_the_local_sandbox(packet):
    checks = [
        {"type": "test", "command": "true | false", "required": True},
        {"type": "lint", "command": "true", "required": False},
    ]
    budget = {"agent_sec": 9, "verifier_sec": 7, "cpus": 1, "memory_mb": 128}
    made = plan(declared(packet, verifier="checks", verification={"checks": checks}, budget=budget))
    (step,) = made.steps
    assert (made.container, made.workdir) == (None, packet / "work")
    assert (made.limits.cpus, made.limits.memory_mb, step.agent_timeout, step.verify.timeout) == (1.0, 128, 9.0, 7.0)
    first, second = step.verify.checks
    assert first.command.argv == ("bash", "-o", "pipefail", "-c", "true | false")
    assert first.command.env == (("SCENLINT_VERIFIER", VERIFIER),)
    assert [(c.id, c.required, c.kind) for c in (first, second)] == [
        ("test 1", True, "test"), ("lint 2", False, "lint"),
    ]  # fmt: skip
    assert [(u.source, u.target) for u in step.verify.overlay] == [(packet / "checks", VERIFIER)]
    assert (step.verify.where, step.verify.reader) == (Where.LOCAL, Reader.PACKET)
    assert step.oracle is not None
    assert step.oracle.command is not None
    assert step.oracle.command.argv == ("bash", "/oracle/solve.sh")


def test_a_packet_with_an_image_runs_in_a_container(packet):
    made = plan(declared(packet, image="python:3.12", budget={"memory_mb": 64}))
    assert made.container is not None
    assert (made.container.image, made.container.workdir) == (Image("python:3.12"), WORKSPACE)
    assert made.container.limits.memory_mb == 64
    assert made.workdir is None
    assert made.steps[0].uploads == (Upload(packet / "work", WORKSPACE),)
    assert made.steps[0].verify.where is Where.CONTAINER


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"verification": {"checks": []}}, "declares no checks"),
        ({"verification": {"checks": [{"type": "test"}]}}, "check 1 in packet.json has no command"),
        ({"verifier": "none"}, "the folder `none` is missing"),
        ({"budget": {"agent_sec": -1}}, "a number above 0"),
        ({"brief": "none.md"}, "there is no brief"),
    ],
)
def test_a_packet_that_cannot_run_says_why(packet, changes, says):
    assert says in refused(declared(packet, **changes))


def test_a_passed_value_survives_being_sent_to_another_process():
    import pickle

    value = pickle.loads(pickle.dumps(Passed("s3cret", "${KEY}")))
    assert (value, value.named) == ("s3cret", "${KEY}")
    assert replace(Upload(Path("a"), "/a"), target="/b").target == "/b"
