"""The `docker` of a verifier's sandbox, with a real engine: what it does, and what it refuses."""

import io
import json
import os
import socket
import stat
import tarfile
import uuid
from pathlib import Path

import pytest
from appkit import PRELUDE, make_plan, notes_app

from scenlint.harness import apps, broker, local
from scenlint.harness.broker import client
from scenlint.harness.broker.template import render
from scenlint.harness.broker.words import Refused, read
from scenlint.harness.engine import Options
from scenlint.harness.reap import reap
from scenlint.harness.scene import Scene
from scenlint.task.plan import Command


@pytest.fixture(scope="module")
def trial(engine, notes_image, tmp_path_factory):
    """A started app with the sandbox of its verifier."""
    folder = tmp_path_factory.mktemp("broker")
    options = Options()
    scene = Scene(make_plan(folder, notes_app(notes_image)), f"{options.run}-broker", folder / "trial", options)
    environment = apps.start(scene, apps.prepare(scene))
    grader = local.grader(scene, scene.plan.steps[0], environment)
    yield environment, grader
    grader.close()
    environment.close()
    assert (grader.problem, environment.problem) == ("", "")
    assert not reap(engine, run=options.run)


@pytest.fixture
def ask(trial):
    """Run Python in the verifier's sandbox; what its last line says as JSON."""
    _, grader = trial

    def go(code):
        ran = grader.run(Command(("python3", "-c", PRELUDE + code), timeout=60), None)
        assert ran.exit_code == 0, ran.output
        return json.loads(ran.output.splitlines()[-1])

    return go


@pytest.fixture
def other(engine, base):
    """A container of somebody else."""
    name = f"other-{uuid.uuid4().hex[:8]}"
    engine.api.create_container(base.tag, ["sleep", "300"], name=name, host_config=engine.api.create_host_config())
    try:
        engine.api.start(name)
        yield name
    finally:
        engine.api.remove_container(name, force=True)


def calls(trial) -> list[dict]:
    path = trial[0].scene.folder / apps.CALLS
    return [json.loads(line) for line in path.read_text().splitlines()]


engine_needed = pytest.mark.engine


# exec


@engine_needed
def test_exec_gives_output_errors_and_status_apart(ask):
    told = ask("r = docker('exec', BOX, 'sh', '-c', 'echo out; echo err >&2; exit 7')\n"
               "show(out=r.stdout, err=r.stderr, code=r.returncode)")  # fmt: skip
    assert told == {"out": "out\n", "err": "err\n", "code": 7}


@engine_needed
def test_exec_passes_bytes_of_any_kind_and_size_in_and_out(ask):
    told = ask("""
import hashlib
data = os.urandom(5_000_000) + bytes(range(256))
back = docker("exec", "-i", BOX, "cat", stdin=data)
show(same=back.stdout == data, code=back.returncode)
""")
    assert told == {"same": True, "code": 0}


@engine_needed
def test_exec_takes_the_usual_options(ask):
    told = ask("""
code = "import os; print(os.environ['A'], os.environ['B'], os.getcwd(), os.getuid())"
a = docker("exec", "-e", "A=1 2", "--env=B=x=y", "-w", "/srv", "-u", "nobody", BOX, "python3", "-c", code)
b = docker("exec", "-ie", "A=1", "-eB=2", "--workdir", "/", "--user=0", "/" + BOX, "python3", "-", stdin=code.encode())
c = docker("container", "exec", BOX, "echo", "-i", "--privileged")
show(a=a.stdout, b=b.stdout, c=c.stdout)
""")
    assert told == {"a": "1 2 x=y /srv 65534\n", "b": "1 2 / 0\n", "c": "-i --privileged\n"}


@engine_needed
def test_exec_can_be_talked_to(ask):
    told = ask("""
p = subprocess.Popen(["docker", "exec", "-i", BOX, "sh", "-c", "while read x; do echo got $x; done"],
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
said = []
for word in ("one", "two"):
    p.stdin.write(word + "\\n"); p.stdin.flush()
    said.append(p.stdout.readline())
p.stdin.close()
show(said=said, code=p.wait(10))
""")
    assert told == {"said": ["got one\n", "got two\n"], "code": 0}


@engine_needed
def test_exec_of_what_is_not_there_fails_as_docker_does(ask):
    told = ask("r = docker('exec', BOX, 'no-such-program'); show(code=r.returncode, all=r.stdout + r.stderr)")
    assert told["code"] in (126, 127)
    assert "no-such-program" in told["all"]


@engine_needed
def test_exec_ends_with_its_command_whatever_that_leaves_running(ask):
    told = ask("""
import time
began = time.time()
r = docker("exec", BOX, "sh", "-c", "sleep 50 & echo started")
d = docker("exec", "-d", BOX, "sleep", "50")
show(out=r.stdout, quick=time.time() - began < 10, codes=[r.returncode, d.returncode])
""")
    assert told == {"out": "started\n", "quick": True, "codes": [0, 0]}


@engine_needed
def test_a_client_that_is_killed_leaves_the_next_ones_alone(ask):
    told = ask("""
late = 0
for _ in range(3):
    try:
        subprocess.run(["docker", "exec", BOX, "sleep", "60"], timeout=1)
    except subprocess.TimeoutExpired:
        late += 1
show(late=late, next=docker("exec", BOX, "echo", "here").stdout)
""")
    assert told == {"late": 3, "next": "here\n"}


@engine_needed
def test_many_calls_at_once_are_all_answered(ask):
    told = ask("""
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(50) as pool:
    said = list(pool.map(lambda n: docker("exec", BOX, "echo", str(n)).stdout.decode().strip(), range(80)))
show(right=said == [str(n) for n in range(80)])
""")
    assert told == {"right": True}


# cp


@engine_needed
def test_cp_takes_files_and_folders_out_as_docker_names_them(ask):
    told = ask("""
docker("exec", BOX, "sh", "-c", "mkdir -p /d/sub; printf 'a\\\\0b' > /d/bytes; ln -s bytes /d/link; ln -s /d/bytes /l")
before = set(os.listdir("/tmp"))  # the interpreter itself may lie there
os.makedirs("/tmp/there"); os.chdir("/tmp")
codes = [docker("cp", *pair).returncode for pair in [
    (f"{BOX}:/d/bytes", "new"), (f"{BOX}:/d/bytes", "/tmp/there"), (f"{BOX}:/d", "renamed"), (f"{BOX}:/d", "there/"),
    (f"{BOX}:/d/.", "/tmp/contents"), ("-L", f"{BOX}:/l", "followed")]]
made = [n for n in os.listdir("/tmp") if n not in before]
names = sorted([n for n in made if os.path.isfile(n)] + [
    os.path.join(f, n) for top in made for f, ds, ns in os.walk(top) for n in ns])
show(codes=codes, names=names, data=open("/tmp/new", "rb").read(), followed=open("/tmp/followed", "rb").read(),
     link=os.readlink("/tmp/renamed/link"), sub=os.path.isdir("/tmp/there/d/sub"))
""")
    assert told["codes"] == [0] * 6
    assert told["data"] == told["followed"] == "a\0b"
    assert (told["link"], told["sub"]) == ("bytes", True)
    folders = ("contents", "renamed", "there/d")
    expected = ["followed", "new", "there/bytes", *(f"{f}/{n}" for f in folders for n in ("bytes", "link"))]
    assert told["names"] == sorted(expected)


@engine_needed
def test_cp_to_standard_output_is_an_archive(ask):
    told = ask("""
import io, tarfile
docker("exec", BOX, "sh", "-c", "head -c 3000000 /dev/urandom > /big; sha256sum /big > /sum")
r = docker("cp", f"{BOX}:/big", "-")
import hashlib
data = tarfile.open(fileobj=io.BytesIO(r.stdout)).extractfile("big").read()
show(same=hashlib.sha256(data).hexdigest() in docker("exec", BOX, "cat", "/sum").stdout.decode())
""")
    assert told == {"same": True}


@engine_needed
def test_cp_takes_files_and_folders_in(ask):
    told = ask("""
import io, tarfile
os.makedirs("/tmp/up/sub"); open("/tmp/up/sub/f", "w").write("deep"); open("/tmp/one", "wb").write(bytes(range(256)))
data = io.BytesIO()
with tarfile.open(fileobj=data, mode="w") as tar:
    info = tarfile.TarInfo("from-tar"); info.size = 3; tar.addfile(info, io.BytesIO(b"tar"))
codes = [docker("cp", "/tmp/one", f"{BOX}:/named").returncode, docker("cp", "/tmp/one", f"{BOX}:/srv").returncode,
         docker("cp", "/tmp/up", f"{BOX}:/srv").returncode, docker("cp", "/tmp/up/.", f"{BOX}:/made").returncode,
         docker("cp", "-", f"{BOX}:/srv", stdin=data.getvalue()).returncode]
there = docker("exec", BOX, "cat", "/srv/up/sub/f", "/made/sub/f", "/srv/from-tar").stdout
same = [docker("exec", BOX, "cat", p).stdout == bytes(range(256)) for p in ("/named", "/srv/one")]
show(codes=codes, there=there, same=same)
""")
    assert told == {"codes": [0] * 5, "there": "deepdeeptar", "same": [True, True]}


@engine_needed
def test_cp_says_what_is_not_there(ask):
    told = ask("""
runs = [docker("cp", f"{BOX}:/no/such", "/tmp/x"), docker("cp", "/no/such", f"{BOX}:/x"),
        docker("cp", f"{BOX}:/etc/passwd", "/tmp/no/folder/x"), docker("cp", "/etc/mime.types", f"{BOX}:/no/folder/x"),
        docker("cp", f"{BOX}:/etc", "/etc/mime.types"), docker("cp", "/tmp", "/tmp/y")]
show(codes=[r.returncode for r in runs], said=[bool(r.stderr) for r in runs])
""")
    assert told == {"codes": [1] * 6, "said": [True] * 6}


@engine_needed
def test_a_path_of_cp_never_leads_out_of_the_container(ask):
    told = ask("""
up = "/.." * 30
r = docker("cp", f"{BOX}:{up}/etc/hostname", "/tmp/host")
inside = docker("exec", BOX, "hostname").stdout
docker("cp", "/tmp/host", f"{BOX}:{up}/planted")
show(host=open("/tmp/host").read() if r.returncode == 0 else "", inside=inside,
     planted=docker("exec", BOX, "ls", "/planted").returncode)
""")
    assert told["host"] in ("", told["inside"])
    assert told["planted"] == 0
    assert not Path("/planted").exists()


@engine_needed
def test_links_in_a_container_lead_nowhere_when_they_are_copied(ask):
    told = ask("""
docker("exec", BOX, "sh", "-c", "mkdir /evil; ln -s /workspace /evil/away; ln -s ../../../workspace/x /evil/up")
os.makedirs("/tmp/e")
first = docker("cp", f"{BOX}:/evil", "/tmp/e")
docker("exec", BOX, "sh", "-c", "rm /evil/away; mkdir /evil/away; echo planted > /evil/away/x")
second = docker("cp", f"{BOX}:/evil", "/tmp/e")
show(codes=[first.returncode, second.returncode], said=second.stderr, planted=os.path.exists("/workspace/x"))
""")
    assert told["codes"] == [0, 0]
    assert told["planted"] is False
    assert "leads out of" in told["said"] or "left out" in told["said"]


@pytest.mark.parametrize(
    ("name", "kind", "link"),
    [
        ("root/../../out", tarfile.REGTYPE, ""),
        ("root/a/../../../out", tarfile.REGTYPE, ""),
        ("root/device", tarfile.CHRTYPE, ""),
        ("root/hard", tarfile.LNKTYPE, "root/../../secret"),
    ],
)
def test_the_client_unpacks_nothing_outside_of_its_folder(tmp_path, name, kind, link):
    (tmp_path / "secret").write_text("secret")
    target = tmp_path / "deep/er"
    target.mkdir(parents=True)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        tar.addfile(info)
    data.seek(0)
    with tarfile.open(fileobj=data) as tar:
        problems = [client._unpack(tar, member, str(target), "copy") for member in tar]
    assert all(problems)
    assert {p.name for p in tmp_path.iterdir()} == {"secret", "deep"}
    assert [p for p in target.rglob("*") if not p.is_dir()] == []


# Looking


@engine_needed
def test_inspect_logs_ps_and_port_show_the_container(ask):
    told = ask("""
whole = json.loads(docker("inspect", BOX).stdout)
show(name=whole[0]["Name"], count=len(whole),
     started=docker("inspect", "--format", "{{.State.StartedAt}}", BOX).stdout,
     running=docker("inspect", "-f", "{{json .State.Running}} {{.State.Running}}", BOX).stdout,
     port=docker("inspect", "-f", '{{index .NetworkSettings.Ports "8080/tcp" 0}}', BOX).returncode,
     logs=docker("logs", BOX).stdout, errors=docker("logs", BOX).stderr, tail=docker("logs", "-n1", BOX).stderr,
     names=docker("ps", "--format", "{{.Names}}").stdout, table=docker("ps", "-a").stdout,
     quiet=docker("ps", "-q", "--filter", "name=" + BOX).stdout, none=docker("ps", "-q", "-f", "name=zzz").stdout,
     ports=docker("port", BOX).stdout, one=docker("port", BOX, "8080").stdout, box=BOX, number=PORT)
""")
    box, port = told["box"], told["number"]
    assert (told["name"], told["count"]) == (f"/{box}", 1)
    assert told["started"].startswith("20")
    assert told["running"] == "true true\n"
    assert told["logs"] == "serving\n"
    assert told["errors"].startswith("a warning\n")
    assert told["errors"].endswith(told["tail"])
    assert len(told["tail"].splitlines()) == 1
    assert told["names"] == f"{box}\n"
    assert told["table"].startswith("CONTAINER ID")
    assert box in told["table"].splitlines()[1]
    assert len(told["table"].splitlines()) == 2
    assert len(told["quiet"]) == 13
    assert told["none"] == ""
    assert (told["ports"], told["one"]) == (f"8080/tcp -> 127.0.0.1:{port}\n", f"127.0.0.1:{port}\n")


# Refusals


@engine_needed
def test_other_containers_are_out_of_reach_by_any_command(ask, trial, other, engine):
    number = engine.api.inspect_container(other)["Id"]
    told = ask(f"""
names = [{other!r}, {number!r}, {number[:12]!r}, "/" + {other!r}, "", "../" + BOX]
runs = [docker(*argv) for name in names for argv in [
    ("exec", name, "true"), ("cp", f"{{name}}:/etc/passwd", "/tmp/x"), ("cp", "/etc/mime.types", f"{{name}}:/x"),
    ("inspect", name), ("logs", name), ("port", name)] if name or argv[0] != "cp"]
show(codes=[r.returncode for r in runs], out=b"".join(r.stdout for r in runs), err=runs[0].stderr, box=BOX,
     all=docker("ps", "-aq", "--no-trunc").stdout)
""")
    assert 0 not in told["codes"]
    assert told["out"] == ""
    assert (
        told["err"]
        == f"docker: scenlint refuses this: `{other}` is no container of this trial, which has {told['box']}\n"
    )
    assert number not in told["all"]
    refused = [call for call in calls(trial) if other in call["argv"]]
    assert refused
    assert all(call["exit_code"] == 125 and other in call["refused"] for call in refused)


@engine_needed
@pytest.mark.parametrize(
    "argv",
    [
        "run --rm -v /:/host BASE cat /host/etc/shadow", "create BASE", "start BOX", "stop BOX", "kill BOX",
        "rm -f BOX",
        "restart BOX", "pause BOX", "commit BOX x", "build .", "pull BASE", "images", "info", "version", "network ls",
        "volume ls", "system prune -af", "compose up", "-H unix:///var/run/docker.sock ps", "--context default ps",
        "exec --privileged BOX true", "exec --privileged=true BOX id", "exec -i --privileged BOX id",
        "exec --env-file /etc/passwd BOX env", "exec --detach-keys x BOX id", "inspect --type image BASE", "inspect",
        "inspect BASE", "logs -f BOX", "ps --filter network=host", "update BOX", "attach BOX", "export BOX", "",
        "container prune", "plugin ls", "login",
    ],
)  # fmt: skip
def test_everything_else_is_refused_and_recorded(ask, trial, base, argv):
    before = len(calls(trial)) if (trial[0].scene.folder / apps.CALLS).exists() else 0
    told = ask(f"""
argv = [{{"BOX": BOX, "BASE": {base.tag!r}}}.get(word, word) for word in {argv.split()!r}]
r = docker(*argv)
show(code=r.returncode, out=r.stdout, err=r.stderr)
""")
    assert told["code"] == 125
    assert told["out"] == ""
    assert told["err"].startswith("docker: scenlint refuses this: ")
    new = calls(trial)[before:]
    assert [call["refused"] for call in new] == [told["err"].removeprefix("docker: scenlint refuses this: ").strip()]


@engine_needed
def test_the_engine_cannot_be_reached_in_another_way(ask):
    told = ask("""
import glob, socket
found = [p for p in ("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock") if os.path.exists(p)]
clients = [p for p in glob.glob("/usr/*bin/docker") + glob.glob("/usr/local/bin/docker")
           if subprocess.run([p, "ps"], capture_output=True, timeout=20).returncode == 0]
tcp = []
for port in (2375, 2376):
    try:
        socket.create_connection((HOST, port), 2)
        tcp.append(port)
    except OSError:
        pass
show(found=found, clients=clients, tcp=tcp, which=__import__("shutil").which("docker"))
""")
    assert told == {"found": [], "clients": [], "tcp": [], "which": f"{broker.INSIDE}/docker"}


@engine_needed
def test_only_the_verifiers_sandbox_reaches_the_broker(trial):
    environment, grader = trial
    code = f"import os; print(os.path.exists({broker.INSIDE!r}), os.listdir('/.scenlint'))"
    ran = environment.run(Command(("python3", "-c", code)), environment.scene.log("look.log"))
    assert ran.output.startswith("False")
    assert "docker" not in ran.output
    gate = grader.home / "gate"
    assert stat.S_IMODE(gate.stat().st_mode) == 0o700


@engine_needed
def test_nonsense_at_the_socket_ends_only_its_own_connection(trial, ask):
    path = trial[1].home / "gate/docker/socket"
    folder = os.open(path.parent, os.O_PATH)
    for nonsense in (b"", b"\0", b"\xff" * 4000, client.HEADER.pack(0, 2**31) + b"x", client.HEADER.pack(0, 2) + b"{}",
                     client.HEADER.pack(0, 7) + b"[1, 2] ", client.HEADER.pack(0, 3) + b"[]x"):  # fmt: skip
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(f"/proc/self/fd/{folder}/socket")
            sock.sendall(nonsense)
            sock.shutdown(socket.SHUT_WR)
            sock.settimeout(10)
            while sock.recv(1000):
                pass
    os.close(folder)
    assert ask("show(out=docker('exec', BOX, 'echo', 'still').stdout)") == {"out": "still\n"}


@engine_needed
def test_calls_are_kept_with_their_arguments_and_bounded(ask, trial):
    ask("docker('exec', BOX, 'sh', '-c', 'exit 3', 'x' * 50_000); show()")
    last = calls(trial)[-1]
    assert last["exit_code"] == 3
    assert last["argv"][:1] == ["exec"]
    assert len(last["argv"][-1]) == 2000
    assert "refused" not in last


# Without an engine


def test_options_are_taken_apart_as_docker_does():
    given = read("exec", ["-ite", "A=1", "-uroot", "--workdir=/x", "name", "sh", "-c", "--", "-i"])
    assert given.plain == ["name", "sh", "-c", "--", "-i"]
    assert given.flags == {"interactive", "tty"}
    assert given.values == {"env": ["A=1"], "user": ["root"], "workdir": ["/x"]}
    assert read("cp", ["-a", "-", "x:/y"]).plain == ["-", "x:/y"]
    assert read("exec", ["--interactive=false", "x", "y"]).flags == set()
    for words in (["--privileged", "x"], ["-iP", "x"], ["-i", "--privileged=false", "x"]):
        with pytest.raises(Refused):
            read("exec", words)


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{{.A.B}}", "1"),
        ("{{ .A.B }}/{{.T}}", "1/true"),
        ("{{json .A}}", '{"B": 1}'),
        ("{{.A|json}}", '{"B": 1}'),
        ("{{.A}}", "map[B:1]"),
        ("{{.L}}", "[x y]"),
        ('{{index .M "k/v"}}', "value"),
        ("{{index .L 1}}", "y"),
        ("{{.Missing}}", "<no value>"),
        ("plain\\n", "plain\n"),
    ],
)
def test_templates_show_what_go_would(template, shown):
    assert render(template, {"A": {"B": 1}, "T": True, "L": ["x", "y"], "M": {"k/v": "value"}}) == shown


@pytest.mark.parametrize(
    "template", ["{{range .L}}x{{end}}", "{{.A | upper}}", "{{if .A}}", "{{index .L 9}}", "{{.L.x}}"]
)
def test_templates_that_ask_for_more_are_an_error(template):
    with pytest.raises(ValueError, match=r"not known here|out of range|can't evaluate"):
        render(template, {"A": 1, "L": ["x"]})
