"""Trials with apps, with a real engine: each has its own, whatever runs beside it, and leaves nothing behind."""

import json
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from appkit import VERIFY, make_plan, notes_app, shown

from scenlint.harness import apps, docker_run, slot, trial
from scenlint.harness.agents import CommandAgent, Nop, OracleAgent
from scenlint.harness.engine import Options
from scenlint.harness.reap import reap
from scenlint.harness.scene import Scene
from scenlint.harness.slot import Reserved
from scenlint.task.plan import Network, NotRunnableError
from scenlint.task.record import FailureClass, Status

HERE = Path(__file__).parent


@pytest.fixture
def go(options, tmp_path):
    """Run a trial of a plan: go(plan, agent) -> TrialRecord."""
    count = 0

    def run(plan, agent=None, **changes):
        nonlocal count
        count += 1
        folder = tmp_path / "trials" / f"{options.run}-{count}"
        return trial.run(plan, agent or OracleAgent(), folder, options=replace(options, **changes))

    return run


# Whole trials


@pytest.mark.engine
def test_the_oracle_passes_over_http_and_nop_does_not(go, notes_image, tmp_path):
    plan = make_plan(tmp_path, notes_app(notes_image))
    passed = go(plan)
    assert (passed.status, passed.reward) == (Status.PASSED, 1.0), passed.failure_evidence
    assert [c.passed for c in passed.checks] == [True, True]
    assert passed.image == notes_image
    assert passed.image_digest.startswith("sha256:")
    failed = go(plan, Nop())
    assert (failed.status, failed.reward) == (Status.FAILED, 0.0)


@pytest.mark.engine
def test_an_agent_on_this_machine_gets_the_urls_and_a_list_of_things_to_do(go, notes_image, tmp_path):
    code = """
import json, os, urllib.request
url = json.loads(os.environ["SCENLINT_URLS"])["notes"]
brief, todo = open(os.environ["SCENLINT_BRIEF_FILE"]).read(), open(os.environ["SCENLINT_TODO_FILE"]).read()
assert f"- notes: {url}" in brief and "- [ ]" in todo
assert url == f"http://{os.environ['SERVER_HOSTNAME']}:{os.environ['NOTES_PORT']}"
assert os.path.isdir(os.environ["SCENLINT_WORKSPACE"])
urllib.request.urlopen(url + "/", b"hello").read()
"""
    record = go(make_plan(tmp_path, notes_app(notes_image)), CommandAgent((sys.executable, "-c", code), on_host=True))
    assert record.status is Status.PASSED, record.phases


@pytest.mark.engine
def test_verifiers_get_the_variables_of_the_contract_and_no_others(go, notes_image, tmp_path):
    verify = """
show(**{k: v for k, v in os.environ.items() if k not in ("PATH", "HOME", "TMPDIR", "LANG", "PWD", "LC_CTYPE")},
     url=get("/url"), box=docker("inspect", "-f", "{{.Name}}", BOX).stdout)
print("[PASS] (1pt) looked", file=sys.stderr)
"""
    without = notes_app(notes_image, name="second", variable="E_LABEL", database=None)
    told = shown(go(make_plan(tmp_path, notes_app(notes_image), without, verify=verify)))
    port, name = told["NOTES_PORT"], told["NOTES_CONTAINER"]
    assert (told.pop("url"), told.pop("box")) == (f"http://127.0.0.1:{port}", f"/{name}\n")
    assert name.endswith("_notes")
    assert told == {
        "SERVER_HOSTNAME": "127.0.0.1",
        "NOTES_PORT": port,
        "NOTES_CONTAINER": name,
        "NOTES_DB_CONTAINER": name,
        "E_LABEL_PORT": told["E_LABEL_PORT"],
        "E_LABEL_CONTAINER": name.removesuffix("notes") + "second",
    }
    assert told["E_LABEL_PORT"] != port


@pytest.mark.engine
def test_two_trials_at_once_do_not_see_each_other(go, notes_image, tmp_path):
    both = threading.Barrier(2)

    class Writer:
        name = "writer"

        def __init__(self, note):
            self.note = note

        def check(self, plan):
            pass

        def act(self, step, environment, scene):
            both.wait(60)  # both environments are there
            subprocess.run(["curl", "-s", "-d", self.note, environment.urls["notes"]], check=True, timeout=20)
            both.wait(60)
            both.wait(60)
            return None

    class Prober(Writer):
        def act(self, step, environment, scene):
            both.wait(60)
            subprocess.run(["curl", "-s", "-d", self.note, environment.urls["notes"]], check=True, timeout=20)
            both.wait(60)
            self.found = _probe_others(environment)
            both.wait(60)
            return None

    verify = """
names = docker("ps", "-a", "--format", "{{.Names}}").stdout.decode().split()
show(notes=json.loads(get()), names=names, port=PORT)
print("[PASS] (1pt) looked", file=sys.stderr)
"""
    agents = Writer("from one"), Prober("from two")
    plans = [
        make_plan(tmp_path / str(n), notes_app(notes_image, options="-v store:/data"), verify=verify) for n in (1, 2)
    ]
    with ThreadPoolExecutor(2) as pool:
        records = list(pool.map(go, plans, agents))
    one, two = map(shown, records)
    assert (one["notes"], two["notes"]) == (["from one"], ["from two"])
    assert len(one["names"]) == len(two["names"]) == 1
    assert one["names"] != two["names"]
    assert one["port"] != two["port"]
    assert set(agents[1].found.values()) == {False}, agents[1].found


def _probe_others(environment) -> dict[str, bool]:
    """What an app's container reaches of other trials' apps, and outside."""
    api, own = environment.engine.api, set(environment._containers())
    run = [f"scenlint.run={environment.scene.options.run}"]
    others = [c for c in api.containers(filters={"label": run}) if not own & {n.lstrip("/") for n in c["Names"]}]
    assert others
    targets = [f"{n['IPAddress']}/8080" for c in others for n in c["NetworkSettings"]["Networks"].values()]
    targets += [f"{c['Names'][0].lstrip('/')}/8080" for c in others]
    targets += ["1.1.1.1/53", "example.com/80", "169.254.169.254/80"]
    out = {}
    for target in [*targets, "127.0.0.1/8080"]:
        url = f"{environment.urls['notes']}/try/{target}"
        out[target] = (
            "not" not in subprocess.run(["curl", "-s", url], capture_output=True, text=True, timeout=20).stdout
        )
    assert out.pop("127.0.0.1/8080")  # the probe itself works
    return out


# Starting


@pytest.mark.engine
def test_an_app_that_never_answers_as_it_should_fails_the_start(go, notes_image, tmp_path):
    app = notes_app(notes_image, wait=1.0)
    app = replace(app, probe=replace(app.probe, accept=frozenset({204})))
    record = go(make_plan(tmp_path, app))
    assert (record.status, record.failure_class) == (Status.NO_VERDICT, FailureClass.INFRASTRUCTURE)
    assert "the app `notes` was not ready within 1 s: / answered with status 200" in record.failure_evidence


@pytest.mark.engine
def test_an_app_that_ends_says_what_it_printed(go, base, tmp_path):
    image = f"{base.tag} sh -c"
    app = notes_app(
        "X", run=(*f"docker run -d --name {{container}} -p {{port}}:8080 {image}".split(), "echo no room; exit 3")
    )
    record = go(make_plan(tmp_path, app))
    assert record.failure_class is FailureClass.INFRASTRUCTURE
    start = next(p for p in record.phases if p.name == "start")
    assert "the app `notes` ended (exit status 3)" in start.error
    assert "no room" in start.error


@pytest.mark.engine
def test_a_missing_image_is_named_with_what_to_do(go, tmp_path):
    record = go(make_plan(tmp_path, notes_app("mw-no-such-app:latest")))
    assert "`mw-no-such-app:latest` is neither here nor can it be pulled" in record.phases[0].error
    assert "[images] substitutes" in record.phases[0].error
    assert [p.name for p in record.phases] == ["build"]


@pytest.mark.engine
def test_a_local_image_stands_in_for_a_pinned_one_and_is_recorded(go, notes_image, tmp_path):
    pinned = f"notes-desk@sha256:{'ab' * 32}"
    record = go(make_plan(tmp_path, notes_app(pinned)), substitutes={"notes-desk": notes_image})
    assert record.status is Status.PASSED, record.failure_evidence
    assert (record.image, record.substitute) == (pinned, f"{notes_image} for {pinned}")


@pytest.mark.engine
def test_a_port_that_is_taken_after_all_is_exchanged(engine, base, options, notes_image, tmp_path):
    scene = Scene(make_plan(tmp_path, notes_app(notes_image)), f"{options.run}-x", tmp_path / "trial", options)
    prepared = apps.prepare(scene)
    wanted = prepared.slots[0].port
    thief = engine.api.create_container(
        base.tag, ["sleep", "60"], ports=[80],
        host_config=engine.api.create_host_config(port_bindings={"80/tcp": ("127.0.0.1", wanted)}),
    )  # fmt: skip
    try:
        engine.api.start(thief)
        environment = apps.start(scene, prepared)
        assert prepared.slots[0].port != wanted
        assert environment.urls["notes"].endswith(str(prepared.slots[0].port))
        environment.close()
        assert environment.problem == ""
    finally:
        engine.api.remove_container(thief, force=True)


def test_reserved_ports_are_nobody_elses():
    reserved = [Reserved() for _ in range(100)]
    others = [socket.create_server(("127.0.0.1", 0)) for _ in range(100)]
    ports = {r.port for r in reserved} | {o.getsockname()[1] for o in others}
    assert len(ports) == 200
    # Who asks for this very port gets it: the engine.
    socket.create_server(("127.0.0.1", reserved[0].port)).close()
    for one in (*reserved, *others):
        one.close()


@pytest.mark.engine
def test_limits_and_labels_are_on_every_container(engine, options, notes_image, tmp_path):
    app = notes_app(notes_image, options="--memory 256m --cpus 0.5 --restart always --label mine=1 --shm-size 80m")
    scene = Scene(make_plan(tmp_path, app), f"{options.run}-x", tmp_path / "trial", options)
    environment = apps.start(scene, apps.prepare(scene))
    try:
        told = engine.api.inspect_container(environment.slots[0].container)
        host = told["HostConfig"]
        assert (host["Memory"], host["NanoCpus"], host["PidsLimit"]) == (256 * 1024**2, 500_000_000, 1024)
        assert (host["ShmSize"], host["RestartPolicy"]["Name"]) == (80 * 1024**2, "always")
        assert told["Config"]["Labels"]["scenlint.trial"] == scene.trial
        assert told["Config"]["Labels"]["mine"] == "1"
        bound = host["PortBindings"]["8080/tcp"]
        assert bound == [{"HostIp": "127.0.0.1", "HostPort": str(environment.slots[0].port)}]
    finally:
        environment.close()


@pytest.mark.engine
def test_with_a_public_network_apps_reach_out(engine, options, notes_image, tmp_path):
    plan = make_plan(tmp_path, notes_app(notes_image), network=Network.PUBLIC)
    scene = Scene(plan, f"{options.run}-x", tmp_path / "trial", options)
    environment = apps.start(scene, apps.prepare(scene))
    try:
        host = engine.api.inspect_container(environment.slots[0].container)["HostConfig"]
        assert host["NetworkMode"] == engine.public_network(options)
        assert not host["Dns"]
    finally:
        environment.close()


# What is unsafe


@pytest.mark.engine
@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--privileged", "privileged"),
        ("--privileged=true", "privileged"),
        ("-v /:/host", "host-mount"),
        ("-itv/etc:/host:rw", "host-mount"),
        ("--volume=/var/run/docker.sock:/var/run/docker.sock:ro", "docker-socket"),
        ("--mount type=bind,source=/etc,target=/host", "host-mount"),
        ("--network host", "host-network"),
        ("--net=host", "host-network"),
        ("--pid host", "host-pid"),
        ("--ipc=host", "host-ipc"),
        ("--uts host", "host-uts"),
        ("--network container:other", "other-container"),
        ("--cap-add SYS_ADMIN", "cap-add"),
        ("--device /dev/sda", "devices"),
        ("--security-opt seccomp=unconfined", "security-opt"),
        ("--volumes-from other", "other-container"),
        ("--gpus all", "devices"),
    ],
)
def test_what_is_unsafe_is_refused_before_anything_is_made(go, notes_image, tmp_path, option, name):
    record = go(make_plan(tmp_path, notes_app(notes_image, options=option)))
    assert (record.failure_class, [p.name for p in record.phases]) == (FailureClass.CONFIGURATION, ["build"])
    assert f"`{name}`" in record.failure_evidence
    assert f"--allow-unsafe {name}" in record.failure_evidence


@pytest.mark.engine
def test_what_is_unsafe_is_done_where_it_is_allowed(engine, options, notes_image, tmp_path):
    allowing = replace(options, allow_unsafe=frozenset({"cap-add", "host-mount"}))
    app = notes_app(notes_image, options=f"--cap-add NET_ADMIN -v {tmp_path}:/host")
    scene = Scene(make_plan(tmp_path, app), f"{options.run}-x", tmp_path / "trial", allowing)
    environment = apps.start(scene, apps.prepare(scene))
    try:
        host = engine.api.inspect_container(environment.slots[0].container)["HostConfig"]
        assert host["CapAdd"] in (["NET_ADMIN"], ["CAP_NET_ADMIN"])
        assert host["Binds"] == [f"{tmp_path}:/host:rw"]
    finally:
        environment.close()


def test_a_read_only_folder_that_is_a_link_counts_as_a_mount(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("/etc")
    folder = tmp_path.resolve()
    assert docker_run.read(("docker", "run", "-v", f"{folder}/data:/data:ro", "x")).unsafe == set()
    assert docker_run.read(("docker", "run", "-v", f"{folder}/link:/data:ro", "x")).unsafe == {"host-mount"}


# The command line


def test_a_docker_run_line_is_read_as_docker_reads_it():
    line = docker_run.read(
        (
            "docker", "run", "-d", "--name", "n", "-p", "4000:80", "--publish=127.0.0.1:4001:53/udp", "-p", "90",
            "-e", "A=b=c", "--env", "NAMED", "-eB=1", "-v", "named:/data", "-v", "/anonymous", "-u", "0", "-w", "/x",
            "--tmpfs", "/run:size=1m", "--ulimit", "nofile=10:20", "--health-cmd", "true", "--health-interval=1m30s",
            "--add-host", "a:1.2.3.4", "--entrypoint", "sh", "image:1", "-c", "run --privileged",
        )
    )  # fmt: skip
    assert (line.image, line.command) == ("image:1", ["-c", "run --privileged"])
    assert line.published == [("4000", "80/tcp"), ("4001", "53/udp"), ("", "90/tcp")]
    assert line.env == ["A=b=c", "B=1"]
    assert line.volumes == [("named", "/data", "rw"), ("", "/anonymous", "rw")]
    assert line.config == {
        "user": "0",
        "working_dir": "/x",
        "entrypoint": ["sh"],
        "healthcheck": {"test": ["CMD-SHELL", "true"], "interval": 90_000_000_000},
    }
    assert line.host == {
        "ulimits": [{"Name": "nofile", "Soft": 10, "Hard": 20}],
        "extra_hosts": {"a": "1.2.3.4"},
    }
    assert line.tmpfs == {"/run": "size=1m"}
    assert line.unsafe == set()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("docker run -d --no-such-option x image", "--no-such-option"),
        ("docker run -Z image", "-Z"),
        ("docker run -d", "names no image"),
        ("docker start x", "is no `docker run"),
        ("docker run --env-file /etc/passwd image", "--env-file"),
        ("docker run --cpus many image", "--cpus many"),
        ("docker run -v data:relative image", "--volume data:relative"),
    ],
)
def test_a_line_that_is_not_understood_is_refused_by_name(words, named):
    with pytest.raises(NotRunnableError, match=named):
        docker_run.read(tuple(words.split()))


# Templates

TEMPLATE = """
networks:
  $prefix-net:
    driver: bridge
volumes:
  $prefix-data:
    name: $prefix-data
services:
  $prefix-db:
    image: IMAGE
    container_name: $prefix-db
    command: ["python3", "-m", "http.server", "9000"]
    networks: [$prefix-net]
    restart: unless-stopped
    healthcheck:
      test: ["CMD", "python3", "-c", "import socket; socket.create_connection(('localhost', 9000))"]
      interval: 1s
      retries: 10
    volumes: ["$prefix-data:/store"]
  $prefix:
    image: IMAGE
    container_name: $prefix
    networks: [$prefix-net]
    environment:
      - PUBLIC_URL=http://$hostname:$port
      - DATABASE=$prefix-db:9000
    ports: ["$port:8080", "18080:9999"]
    depends_on:
      $prefix-db:
        condition: service_healthy
"""


def template(folder: Path, image: str, text: str = TEMPLATE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notes.yml.tpl").write_text(text.replace("IMAGE", image))
    return folder / "notes.yml.tpl"


@pytest.mark.engine
def test_an_app_from_a_compose_template_has_its_database_beside_it(go, plugin, notes_image, tmp_path):
    app = notes_app("", run=(), template=template(tmp_path / "docker", notes_image), database="{prefix}-db")
    verify = (
        VERIFY
        + """
db = os.environ["NOTES_DB_CONTAINER"]
assert db == BOX + "-db" and docker("exec", db, "ls", "/store").returncode == 0
assert docker("exec", BOX, "printenv", "DATABASE").stdout.decode().strip() == f"{db}:9000"
assert "not" not in get(f"/try/{db}/9000"), get(f"/try/{db}/9000")
assert "not" in get("/try/1.1.1.1/53") and "not" in get("/try/example.com/80")
assert get("/url") == f"http://{HOST}:{PORT}"
assert len(docker("ps", "-q").stdout.split()) == 2
"""
    )
    plans = [make_plan(tmp_path / str(n), app, verify=verify) for n in (1, 2)]
    with ThreadPoolExecutor(2) as pool:  # nothing in the template is wanted by both
        records = list(pool.map(go, plans))
    for record in records:
        assert (record.status, record.reward) == (Status.PASSED, 1.0), record
    assert records[0].image == notes_image


@pytest.mark.engine
@pytest.mark.parametrize(
    ("added", "name"),
    [
        ("privileged: true", "privileged"),
        ("network_mode: host", "host-network"),
        ("volumes: ['/:/host']", "host-mount"),
        ("volumes: ['/var/run/docker.sock:/s:ro']", "docker-socket"),
        ("cap_add: [SYS_ADMIN]", "cap-add"),
        ("pid: host", "host-pid"),
    ],
)
def test_a_template_may_ask_for_nothing_unsafe(go, plugin, notes_image, tmp_path, added, name):
    text = f"services:\n  $prefix:\n    image: IMAGE\n    container_name: $prefix\n    {added}\n"
    app = notes_app("", run=(), template=template(tmp_path / "docker", notes_image, text))
    record = go(make_plan(tmp_path, app))
    assert record.failure_class is FailureClass.CONFIGURATION
    assert f"`{name}`" in record.failure_evidence


# Ends


@pytest.mark.engine
def test_a_killed_runner_leaves_nothing_that_cannot_be_found(engine, notes_image, tmp_path):
    options = Options()
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(HERE)!r})
from pathlib import Path
from appkit import make_plan, notes_app
from scenlint.harness import apps
from scenlint.harness.engine import Options
from scenlint.harness.scene import Scene
folder = Path({str(tmp_path)!r})
plan = make_plan(folder, notes_app({notes_image!r}, options="-v store:/data"))
scene = Scene(plan, "{options.run}-killed", folder / "trial", Options(run="{options.run}"))
apps.start(scene, apps.prepare(scene))
print("started", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert (ran.stdout, ran.returncode) == ("started\n", -signal.SIGKILL), ran.stderr
    left = reap(engine)
    prefix = slot.trial_prefix(Scene(make_plan(tmp_path), f"{options.run}-killed", tmp_path, options))
    assert f"{prefix}_notes" in left.containers
    assert prefix in left.networks
    assert f"{prefix}_notes_store" in left.volumes
    assert not reap(engine, run=options.run)


@pytest.mark.engine
def test_an_interrupted_start_leaves_nothing(options, notes_image, tmp_path):
    app = notes_app(notes_image)
    app = replace(app, probe=replace(app.probe, accept=frozenset({204})))
    stop = threading.Event()
    threading.Timer(1.5, stop.set).start()
    record = trial.run(
        make_plan(tmp_path, app), OracleAgent(), tmp_path / "trials" / f"{options.run}-1", options=options, stop=stop
    )
    assert record.failure_class is FailureClass.INTERRUPTED


@pytest.mark.engine
def test_a_trial_that_is_stopped_before_its_start_holds_no_port(options, notes_image, tmp_path):
    scene = Scene(make_plan(tmp_path, notes_app(notes_image)), f"{options.run}-1", tmp_path / "trial", options)
    made = apps.prepare(scene)
    ports = [port.port for slot in made.slots for port in slot.ports]
    assert len(ports) == 2
    for port in ports:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", port))


@pytest.mark.engine
def test_an_environment_can_be_closed_twice_and_ends_its_ports(options, notes_image, tmp_path):
    scene = Scene(make_plan(tmp_path, notes_app(notes_image)), f"{options.run}-x", tmp_path / "trial", options)
    environment = apps.start(scene, apps.prepare(scene))
    told = json.loads((scene.folder / "apps.json").read_text())
    assert told["notes"]["url"] == environment.urls["notes"]
    environment.close()
    environment.close()
    assert environment.problem == ""
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", environment.slots[0].port), 2)
