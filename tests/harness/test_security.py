"""What a task tries to reach from its container, with a real engine: none of it succeeds."""

import http.server
import json
import threading
from pathlib import Path

import pytest
from plans import dockerfile, make_plan, make_step

from scenlint.harness import images, single
from scenlint.harness.agents import CommandAgent
from scenlint.harness.scene import Scene
from scenlint.task.plan import Command, Network

pytestmark = pytest.mark.engine

# Tries everything and prints what worked. Arguments: the path of a file on the host, then host:port pairs.
PROBE = """
import glob, json, os, socket, subprocess, sys
reached = []
for path in [sys.argv[1], *glob.glob("/proc/1/root" + sys.argv[1]), "/var/run/docker.sock", "/run/docker.sock",
             "/run/podman/podman.sock", "/proc/1/root/var/run/docker.sock", "/dev/vda", "/dev/sda"]:
    if os.path.exists(path):
        reached.append(path)
for target in sys.argv[2:]:
    host, port = target.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
        reached.append(target)
    except OSError:
        pass
for folder in ("/tests", "/solution"):
    if os.path.exists(folder):
        reached.append(folder)
escapes = ["mount -t tmpfs x /mnt", "unshare -U true", "chroot /proc/1/root/../.. ls " + sys.argv[1]]
for argv in map(str.split, escapes):
    try:
        if subprocess.run(argv, capture_output=True).returncode == 0:
            reached.append(" ".join(argv))
    except OSError:
        pass
with open("/proc/self/status") as file:
    caps = next(int(line.split()[1], 16) for line in file if line.startswith("CapEff"))
if caps & (1 << 21 | 1 << 12 | 1 << 19 | 1 << 16):  # SYS_ADMIN, NET_ADMIN, SYS_PTRACE, SYS_MODULE
    reached.append(f"capabilities {caps:x}")
print(json.dumps(reached))
"""


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text("secret")
    return path


@pytest.fixture
def server():
    """An HTTP server on every address of this machine; its port."""
    with http.server.ThreadingHTTPServer(("0.0.0.0", 0), http.server.BaseHTTPRequestHandler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made.server_port
        made.shutdown()


def own_address(engine, options) -> str:
    """This machine's on the run's network: what lies beyond it, only a machine with a way out can tell."""
    return engine.api.inspect_network(engine.public_network(options))["IPAM"]["Config"][0]["Gateway"]


def test_an_agent_reaches_no_network_no_engine_no_host_file_and_no_verifier(
    run, base, tmp_path, engine, options, secret, server
):
    targets = [f"{own_address(engine, options)}:{server}", f"127.0.0.1:{server}", "1.1.1.1:53", "169.254.169.254:80"]
    agent = CommandAgent(("python3", "-c", PROBE, str(secret), *targets))
    record = run(make_plan(tmp_path, base.tag), agent)
    assert json.loads(record.phases[2].output.splitlines()[0]) == [], record.phases[2].output
    control = CommandAgent(("python3", "-c", PROBE, "/etc/hostname"))
    assert "/etc/hostname" in json.loads(run(make_plan(tmp_path, base.tag), control).phases[2].output.splitlines()[0])


@pytest.mark.parametrize("network", [Network.NONE, Network.PUBLIC])
def test_a_trial_does_not_reach_another_trials_container(run, base, tmp_path, engine, options, network):
    plan = make_plan(tmp_path, base.tag, network=network)
    scene = Scene(plan, f"{options.run}-other", tmp_path / "other", options)
    other = single.start(scene, single.prepare(scene))
    try:
        serving = "python3 -m http.server 8000 >/dev/null 2>&1 & sleep 0.7; python3 -c '{}'"
        check = 'import urllib.request as u; print(u.urlopen("http://localhost:8000").status)'
        assert other.run(Command(("sh", "-c", serving.format(check))), None).output == "200\n"
        told = engine.api.inspect_container(other.name)["NetworkSettings"]["Networks"]
        address = next(iter(told.values()))["IPAddress"] or "172.17.0.2"
        agent = CommandAgent(("python3", "-c", PROBE, "/nowhere", f"{address}:8000", f"{other.name}:8000"))
        record = run(plan, agent)
        assert json.loads(record.phases[2].output.splitlines()[0]) == [], record.phases[2].output
    finally:
        other.close()


def test_a_public_network_leads_out(run, base, tmp_path, engine, options, server):
    outside = f"{own_address(engine, options)}:{server}"
    agent = CommandAgent(("python3", "-c", PROBE, "/nowhere", outside))
    record = run(make_plan(tmp_path, base.tag, network=Network.PUBLIC), agent)
    assert json.loads(record.phases[2].output.splitlines()[0]) == [outside]


def test_links_and_devices_that_an_agent_plants_lead_nowhere_on_the_host(run, base, tmp_path, secret):
    solve = f"""
        cd /logs/agent; ln -s {secret} link; ln -s / root; mkfifo pipe; mknod null c 1 3
        mkdir -p 'a/..x'; echo > 'a/..x/f'
        ln -s {secret.parent} dir; chmod 4777 pipe; cp /bin/sh suid; chmod 4755 suid; ln suid second
        rm -rf /logs/verifier; ln -s {secret.parent} /logs/verifier"""
    record = run(make_plan(tmp_path, base.tag, make_step(tmp_path, solve=solve, test="true")))
    assert record.reward is None
    kept = tmp_path / "trials" / record.id / "collected/logs"
    found = {p.relative_to(kept).as_posix(): p.lstat().st_mode & 0o7777 for p in kept.rglob("*") if not p.is_dir()}
    assert found == {"agent/a/..x/f": 0o644, "agent/suid": 0o755, "agent/second": 0o755}
    assert not any(p.is_symlink() for p in kept.rglob("*"))


def test_a_build_sees_only_its_context(base, tmp_path, engine, options, secret):
    build = dockerfile(tmp_path / "context", base.tag, "COPY link /copied\n")
    (tmp_path / "context/link").symlink_to(secret)
    from scenlint.harness.environment import Fault
    from scenlint.task.plan import Image

    try:
        ready = images.prepare(engine, Image(build=build), options, timeout=60)
    except Fault:
        return
    shown = engine.api.create_container(ready.id, ["cat", "/copied"], labels=engine.labels(options, "x"))
    engine.api.start(shown)
    engine.api.wait(shown)
    assert b"secret" not in engine.api.logs(shown, stderr=False)
    engine.api.remove_container(shown, force=True)
