"""Compose projects, with a real engine: the agent's container, what is around it, and nothing that is left."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from plans import FOLDERS, dockerfile, make_step

from scenlint.harness import compose, compose_model, trial
from scenlint.harness.agents import CommandAgent, Nop, OracleAgent
from scenlint.harness.compose_model import Terms, adapt, check
from scenlint.harness.engine import Options
from scenlint.harness.reap import reap
from scenlint.harness.scene import Scene
from scenlint.task.plan import Command, Compose, Container, Image, Limits, Network, NotRunnableError, Probe, RunPlan
from scenlint.task.record import FailureClass, Status

HERE = Path(__file__).parent
SIDE = """
  side:
    image: IMAGE
    command: ["python3", "-m", "http.server", "9000"]
"""


def project(folder: Path, image: str, text: str, *, container: Container | None = None, **changes) -> RunPlan:
    """A plan with a compose file; IMAGE in it stands for the base image."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "docker-compose.yaml").write_text(textwrap.dedent(text).replace("IMAGE", image))
    env = changes.pop("env", ())
    main = changes.pop("main", "main")
    made = Compose((folder / "docker-compose.yaml",), main, folder, env, container)
    step = changes.pop("step", None) or make_step(
        folder, solve="mkdir -p /app /logs/verifier; echo 42 > /app/answer.txt"
    )
    return RunPlan("org/composed", "harbor", folder, (step,), compose=made, **changes)


def main_container(image: Image | str = "", **changes) -> Container:
    """What holds for `main`."""
    made = Image(image or None) if isinstance(image, str) else image
    return Container(made, folders=(*FOLDERS, "/app"), workdir="/app", **changes)


@pytest.fixture
def scene(options, tmp_path):
    """Scenes of this test's run: scene(plan) -> Scene."""
    count = 0

    def make(plan, **changes):
        nonlocal count
        count += 1
        return Scene(plan, f"{options.run}-{count}", tmp_path / f"trial-{count}", replace(options, **changes))

    return make


@pytest.fixture
def started(scene, plugin):
    """Start a plan's project: started(plan) -> environment; closed at the end."""
    made = []

    def go(plan, **changes):
        at = scene(plan, **changes)
        made.append(compose.start(at, compose.prepare(at)))
        return made[-1]

    yield go
    for environment in made:
        environment.close()
        environment.close()
        assert environment.problem == ""


def sh(environment, text: str):
    return environment.run(Command(("sh", "-c", text), timeout=60), None)


pytestmark = pytest.mark.engine


# Whole trials


def test_oracle_and_nop_of_a_task_with_a_service(run, base, plugin, tmp_path):
    plan = project(tmp_path, base.tag, "services:" + SIDE, container=main_container(base.pinned))
    passed = run(plan)
    assert (passed.status, passed.reward) == (Status.PASSED, 1.0), passed.failure_evidence
    assert passed.image == base.pinned
    assert passed.image_digest == base.pinned.partition("@")[2]
    assert run(plan, Nop()).reward == 0.0


def test_a_file_may_say_everything_of_the_agents_service(run, base, plugin, tmp_path):
    dockerfile(tmp_path / "env", base.tag, "RUN echo built > /built\n")
    text = """
    services:
      client:
        build: {context: env}
        image: ${IMAGE_NAME}
        container_name: ${CONTAINER_NAME}
        command: ["sh", "-c", "sleep infinity"]
        environment: ["TEST_DIR=${TEST_DIR}"]
        volumes: ["${LOGS}:/logs"]
        ports: ["8080:80"]
    """
    env = {"IMAGE_NAME": "{trial}-client", "CONTAINER_NAME": "{trial}-client", "TEST_DIR": "/tests", "LOGS": "{logs}/a"}
    code = """
test "$(cat /built) $TEST_DIR" = "built /tests" && mkdir -p /app /logs/verifier && echo 42 > /app/answer.txt
"""
    plan = project(
        tmp_path, base.tag, text, main="client", env=tuple(env.items()), step=make_step(tmp_path, solve=code)
    )
    record = run(plan)
    assert record.status is Status.PASSED, record.phases
    assert record.image.startswith("scenlint/")


def test_two_trials_at_once_share_no_name_no_port_no_address_and_no_volume(run, base, plugin, tmp_path):
    text = """
    name: fixed
    services:
      main: {volumes: ["store:/store"], container_name: fixed-main, ports: ["18080:80"], networks: [inner]}
      side:
        image: IMAGE
        container_name: fixed-side
        command: ["python3", "-m", "http.server", "9000"]
        networks: [inner]
    networks:
      inner: {name: fixed-net, ipam: {config: [{subnet: 10.77.0.0/24}]}}
    volumes:
      store: {name: fixed-store}
    """
    both = threading.Barrier(2)

    class Writer:
        name = "writer"

        def check(self, plan):
            pass

        def act(self, step, environment, scene):
            both.wait(120)
            sh(environment, "echo x >> /store/lines")
            both.wait(120)
            # The service answers to the name that its file gave its container.
            code = "import urllib.request as u; u.urlopen('http://fixed-side:9000', timeout=10)"
            return environment.run(
                Command(
                    (
                        "sh",
                        "-c",
                        f'test "$(wc -l < /store/lines)" = 1 && python3 -c "{code}" && echo 42 > /app/answer.txt',
                    )
                ),
                scene.log("agent.log"),
            )

    plans = [project(tmp_path / str(n), base.tag, text, container=main_container(base.tag)) for n in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        records = list(pool.map(run, plans, (Writer(), Writer())))
    for record in records:
        assert record.status is Status.PASSED, record


# What the environment is


def test_the_agents_container_has_its_variables_folders_limits_and_folder(started, base, tmp_path, engine):
    text = "services:\n  main:\n    environment: {FROM_FILE: 'a$$b'}\n" + SIDE
    container = main_container(
        base.tag, env=(("FROM_PLAN", "c$d"),), limits=Limits(cpus=1, memory_mb=300, pids=200),
        probe=Probe(Command(("test", "-d", "/logs/agent"))),
    )  # fmt: skip
    environment = started(project(tmp_path, base.tag, text, container=container))
    told = sh(environment, 'echo "$FROM_FILE $FROM_PLAN"; pwd; touch /logs/agent/x && stat -c %a /app')
    assert told.output == "a$b c$d\n/app\n777\n"
    info = engine.api.inspect_container(environment.name)
    host = info["HostConfig"]
    assert (host["NanoCpus"], host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (
        10**9,
        300 << 20,
        300 << 20,
        200,
    )
    assert info["Config"]["Labels"]["scenlint.trial"] == environment.project.removeprefix("scenlint-")
    side = engine.api.inspect_container(environment.service("side").name)
    assert side["HostConfig"]["Memory"] == 4096 << 20
    assert side["Config"]["Labels"]["scenlint.run"] == info["Config"]["Labels"]["scenlint.run"]
    assert environment.variables == {"SCENLINT_CONTAINER": environment.name}


def test_what_the_file_says_of_limits_and_command_holds(started, base, tmp_path, engine):
    text = """
    services:
      main:
        command: ["sleep", "1000"]
        working_dir: /srv
        deploy: {resources: {limits: {cpus: "0.5", memory: 200M}}}
    """
    environment = started(
        project(tmp_path, base.tag, text, container=main_container(base.tag, limits=Limits(memory_mb=999)))
    )
    host = engine.api.inspect_container(environment.name)["HostConfig"]
    assert (host["NanoCpus"], host["Memory"]) == (500_000_000, 200 * 1024 * 1024)
    assert sh(environment, "pwd; tr '\\0' ' ' < /proc/1/cmdline").output == "/srv\nsleep 1000 "


def test_other_services_are_reached_and_can_be_looked_into(started, base, tmp_path):
    environment = started(project(tmp_path, base.tag, "services:" + SIDE, container=main_container(base.tag)))
    code = "import urllib.request as u; print(u.urlopen('http://side:9000', timeout=10).status)"
    assert environment.run(Command(("python3", "-c", code)), None).output == "200\n"
    side = environment.service("side")
    assert sh(side, "tr '\\0' ' ' < /proc/1/cmdline").output == "python3 -m http.server 9000 "
    side.close()
    assert sh(environment, "echo still").output == "still\n"
    with pytest.raises(Exception, match="no service `nobody`"):
        environment.service("nobody")


def test_services_are_awaited_until_they_are_healthy(started, base, tmp_path):
    text = """
    services:
      main: {}
      slow:
        image: IMAGE
        command: ["sh", "-c", "sleep 3; touch /ready; sleep 1000"]
        healthcheck: {test: ["CMD", "test", "-e", "/ready"], interval: 1s, retries: 20}
      once:
        image: IMAGE
        command: ["true"]
    """
    environment = started(project(tmp_path, base.tag, text, container=main_container(base.tag)))
    assert sh(environment.service("slow"), "ls /ready").exit_code == 0


# No way out


REACH = """
import json, socket, sys
out = {}
for target in sys.argv[1:]:
    host, port = target.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 1).close()
        out[target] = True
    except OSError:
        out[target] = False
print(json.dumps(out))
"""


def test_without_a_network_only_the_own_services_are_reached(started, base, tmp_path, engine):
    text = "services:\n  main: {extra_hosts: ['machine:host-gateway']}\n" + SIDE
    first = started(project(tmp_path / "1", base.tag, text, container=main_container(base.tag)))
    second = started(project(tmp_path / "2", base.tag, text, container=main_container(base.tag)))
    networks = engine.api.inspect_container(second.service("side").name)["NetworkSettings"]["Networks"]
    ours = engine.api.inspect_container(first.name)["NetworkSettings"]["Networks"]
    gateways = [
        n["Gateway"] or engine.api.inspect_network(key)["IPAM"]["Config"][0]["Gateway"] for key, n in ours.items()
    ]
    with _listener() as port:
        targets = ["side:9000", *(f"{n['IPAddress']}:9000" for n in networks.values()), "1.1.1.1:53", "example.com:80"]
        targets += [f"{address}:{port}" for address in (*gateways, "machine", "172.17.0.1")]
        told = json.loads(first.run(Command(("python3", "-c", REACH, *targets)), None).output)
    assert told == {target: target == "side:9000" for target in targets}


def test_a_public_network_has_a_way_out(started, base, tmp_path, engine):
    plan = project(tmp_path, base.tag, "services:" + SIDE, container=main_container(base.tag), network=Network.PUBLIC)
    environment = started(plan)
    with _listener() as port:
        targets = ["side:9000", f"172.17.0.1:{port}"]
        for _ in range(10):  # a busy machine may be slow to answer
            told = json.loads(environment.run(Command(("python3", "-c", REACH, *targets)), None).output)
            if all(told.values()):
                break
    assert told == dict.fromkeys(targets, True)
    for name in engine.api.inspect_container(environment.name)["NetworkSettings"]["Networks"]:
        assert engine.api.inspect_network(name)["Internal"] is False


class _listener:  # noqa: N801
    """Something that listens on every address of this machine."""

    def __enter__(self) -> int:
        import socket

        self.server = socket.create_server(("0.0.0.0", 0))
        return self.server.getsockname()[1]

    def __exit__(self, *_: object) -> None:
        self.server.close()


# What is unsafe


@pytest.mark.parametrize(
    ("added", "name"),
    [
        ("privileged: true", "privileged"),
        ("cap_add: [NET_ADMIN]", "cap-add"),
        ("devices: ['/dev/null:/dev/x']", "devices"),
        ("security_opt: ['seccomp:unconfined']", "security-opt"),
        ("network_mode: host", "host-network"),
        ("network_mode: 'container:other'", "other-container"),
        ("pid: host", "host-pid"),
        ("ipc: host", "host-ipc"),
        ("volumes: ['/:/host:ro']", "host-mount"),
        ("volumes: ['./own:/own']", "host-mount"),
        ("volumes: ['./link:/own:ro']", "host-mount"),
        ("volumes: ['${HOME_OF}/x:/own:ro']", "host-mount"),
        ("volumes: ['/var/run/docker.sock:/s:ro']", "docker-socket"),
        ("volumes: ['elsewhere:/x']", "host-mount"),
        ("networks: [theirs]", "external-network"),
        ("post_start: [{command: ['true'], privileged: true}]", "privileged"),
        ("build: {context: /etc}", "host-files"),
        ("build: {context: 'https://example.com/x.git'}", "host-files"),
        ("secrets: [passwords]", "host-files"),
    ],
)
def test_what_is_unsafe_is_refused_before_anything_is_made(scene, plugin, base, tmp_path, added, name):
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "link").symlink_to("/etc")
    text = f"services:\n  main: {{}}\n  bad:\n    image: IMAGE\n    {added}\n"
    used = {
        "elsewhere": "volumes:\n  elsewhere: {driver_opts: {type: none, o: bind, device: /}}\n",
        "theirs": "networks:\n  theirs: {external: true}\n",
        "passwords": "secrets:\n  passwords: {file: /etc/shadow}\n",
    }
    text += next((more for word, more in used.items() if word in added), "")
    plan = project(folder, base.tag, text, container=main_container(base.tag), env=(("HOME_OF", "/root"),))
    at = scene(plan)
    with pytest.raises(NotRunnableError, match=f"`{name}`"):
        compose.prepare(at)
    if name not in ("host-files", "external-network", "other-container", "docker-socket"):
        compose.prepare(replace(at, options=replace(at.options, allow_unsafe=frozenset({name}))))


def test_the_tasks_own_files_may_be_mounted_read_only(started, base, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/file").write_text("data")
    text = "services:\n  main: {volumes: ['./data:/data:ro']}\n"
    environment = started(project(tmp_path, base.tag, text, container=main_container(base.tag)))
    assert sh(environment, "cat /data/file; touch /data/x 2>&1").output.startswith("data")
    assert not (tmp_path / "data/x").exists()


def test_variables_of_this_machine_do_not_get_in(started, base, tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "secret")
    text = "services:\n  main: {environment: ['SECRET_TOKEN', 'B=${SECRET_TOKEN}', 'C=${HOME}']}\n"
    environment = started(project(tmp_path, base.tag, text, container=main_container(base.tag)))
    assert sh(environment, 'echo "[$SECRET_TOKEN$B$C]"').output == "[]\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: {other: {image: IMAGE}}", "no service `main`"),
        ("services: {main: {image: IMAGE, provider: {type: x}}}", "`main.provider`"),
        ("services: {main: {image: IMAGE, no_such_key: 1}}", "no_such_key"),
        ("services: {main: {build: {context: ., secrets: [x]}}}\nsecrets: {x: {file: ./x}}", "`main.build.secrets`"),
        ("services: [", "cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(scene, plugin, base, tmp_path, text, said):
    with pytest.raises(NotRunnableError, match=said):
        compose.prepare(scene(project(tmp_path, base.tag, text)))


# Failures and ends


def test_a_service_that_does_not_become_healthy_fails_the_start(run, base, plugin, tmp_path):
    text = """
    services:
      main: {depends_on: {bad: {condition: service_healthy}}}
      bad:
        image: IMAGE
        command: ["sleep", "1000"]
        healthcheck: {test: ["CMD", "false"], interval: 1s, retries: 1}
    """
    record = run(project(tmp_path, base.tag, text, container=main_container(base.tag)))
    assert record.failure_class is FailureClass.INFRASTRUCTURE
    assert "unhealthy" in record.failure_evidence


def test_an_agents_container_that_ends_at_once_is_no_score(run, base, plugin, tmp_path):
    text = "services:\n  main: {command: ['sh', '-c', 'echo no room; exit 3']}\n"
    record = run(project(tmp_path, base.tag, text, container=main_container(base.tag)))
    assert record.status is Status.NO_VERDICT
    assert "exit status 3" in record.failure_evidence
    assert "no room" in record.phases[1].error


def test_a_missing_image_is_named_with_what_to_do(run, base, plugin, tmp_path):
    text = "services:\n  main: {}\n  side: {image: no-such-image:1}\n"
    record = run(project(tmp_path, base.tag, text, container=main_container(base.tag)))
    assert "`no-such-image:1` is neither here nor can it be pulled" in record.phases[0].error


def test_images_of_services_are_replaced_as_mapped(started, base, tmp_path, engine):
    pinned = f"redis:6@sha256:{'ab' * 32}"
    text = f"services:\n  main: {{}}\n  cache: {{image: '{pinned}', command: ['sleep', '1000']}}\n"
    plan = project(tmp_path, base.tag, text, container=main_container(base.tag))
    environment = started(plan, substitutes={"redis:6": base.tag})
    assert sh(environment.service("cache"), "python3 -V").exit_code == 0


def test_an_interrupted_start_leaves_nothing(base, plugin, options, tmp_path):
    text = """
    services:
      main: {depends_on: {bad: {condition: service_healthy}}}
      bad:
        image: IMAGE
        command: ["sleep", "1000"]
        healthcheck: {test: ["CMD", "false"], interval: 100s, start_period: 100s}
    """
    stop = threading.Event()
    threading.Timer(4, stop.set).start()
    plan = project(tmp_path, base.tag, text, container=main_container(base.tag))
    record = trial.run(plan, OracleAgent(), tmp_path / f"{options.run}-1", options=options, stop=stop)
    assert record.failure_class is FailureClass.INTERRUPTED


def test_an_agent_that_stops_its_own_container_is_no_score(run, base, plugin, tmp_path):
    text = "services:\n  main: {command: ['python3', '-c', 'import time; time.sleep(1000)'], init: true}\n" + SIDE
    agent = CommandAgent(("sh", "-c", "kill -9 -1; kill 1; sleep 5"))
    record = run(project(tmp_path, base.tag, text, container=main_container(base.tag)), agent)
    assert record.status is not Status.PASSED


def test_a_killed_runner_leaves_nothing_that_cannot_be_found(engine, base, plugin, tmp_path):
    run = Options().run
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(HERE)!r})
from pathlib import Path
from test_compose import main_container, project
from scenlint.harness import compose
from scenlint.harness.engine import Options
from scenlint.harness.scene import Scene
folder = Path({str(tmp_path)!r})
text = "services: {{main: {{volumes: ['store:/store', '/anonymous']}}}}\\nvolumes: {{store: {{}}}}"
plan = project(folder, {base.tag!r}, text, container=main_container({base.tag!r}))
scene = Scene(plan, "{run}-killed", folder / "trial", Options(run="{run}"))
compose.start(scene, compose.prepare(scene))
print("started", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (ran.stdout, ran.returncode) == ("started\n", -signal.SIGKILL), ran.stderr
    left = reap(engine)
    name = f"scenlint-{run}-killed"
    assert f"{name}-main-1" in left.containers
    assert f"{name}_default" in left.networks
    assert f"{name}_store" in left.volumes
    assert not reap(engine, run=run)


def test_without_the_plugin_the_message_says_how_to_get_it(scene, base, tmp_path, monkeypatch):
    for name in ("docker", "sh"):
        os.symlink("/bin/false", tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotRunnableError, match="docker-compose-plugin"):
        compose.prepare(scene(project(tmp_path / "task", base.tag, "services: {}")))


# The model alone


def test_networks_with_static_addresses_keep_them():
    model = {
        "services": {"a": {"image": "x", "networks": {"n": {"ipv4_address": "10.7.0.5"}}}},
        "networks": {"n": {"name": "p_n", "ipam": {"config": [{"subnet": "10.7.0.0/24"}]}}},
    }
    terms = Terms({"l": "1"}, Limits(), 2.0, public=False)
    out = adapt(model, {"a": "sha256:1"}, terms)
    assert out["networks"]["n"]["ipam"] == {"config": [{"subnet": "10.7.0.0/24"}]}
    assert out["networks"]["n"]["internal"] is True
    assert "name" not in out["networks"]["n"]


def test_unknown_parts_of_a_file_are_refused_by_name(tmp_path):
    with pytest.raises(NotRunnableError, match="`models`"):
        check({"services": {}, "models": {}}, tmp_path, Options())
    with pytest.raises(NotRunnableError, match=r"`a\.use_api_socket`"):
        check({"services": {"a": {"use_api_socket": True}}}, tmp_path, Options())


def test_extensions_of_files_are_left_alone(tmp_path):
    check({"x-common": {}, "services": {"a": {"image": "x", "x-note": 1}}}, tmp_path, Options())
    assert compose_model.escaped("a$b") == "a$$b"
