"""The local sandbox with real processes: what it shows, what it hides, and what it survives."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.harness import bubblewrap, local, trial
from scenlint.harness.agents import CommandAgent, Nop, OracleAgent
from scenlint.harness.box import Box
from scenlint.harness.cgroups import Group
from scenlint.harness.engine import Options
from scenlint.harness.environment import Fault, GoneError, Ran, StoppedError
from scenlint.harness.identity import Identity
from scenlint.harness.local import LocalEnvironment
from scenlint.harness.scene import Scene
from scenlint.task.plan import (
    VERIFIER,
    WORKSPACE,
    Check,
    Command,
    Limits,
    Network,
    Oracle,
    Reader,
    RunPlan,
    Step,
    Upload,
    Verify,
    Where,
)
from scenlint.task.record import FailureClass, Status
from scenlint.task.trials import obstacle

ROOT = os.geteuid() == 0


@pytest.fixture(params=["own user", "user namespace"] if ROOT else ["user namespace"])
def _identity(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which a sandbox can be made, as far as this user can make it."""
    if ROOT and request.param == "user namespace":
        monkeypatch.setattr(bubblewrap, "identity", Identity)


pytestmark = pytest.mark.usefixtures("_identity")


def a_plan(folder: Path, check: str = "grep -qx 42 answer.txt", **changes: object) -> RunPlan:
    """A packet: work/ with a file, checks/ with what the verifier holds, and a solution."""
    for name, text in {
        "work/factors.txt": "6\n7\n",
        "checks/want.txt": "42\n",
        "solve.sh": "echo $(($(paste -sd '*' factors.txt))) > answer.txt\n",
    }.items():
        path = folder / "task" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    task = folder / "task"
    command = Command(("bash", "-c", check), env=(("SCENLINT_VERIFIER", VERIFIER),), timeout=20)
    verify = Verify(Where.LOCAL, (Check("test 1", command),), Reader.PACKET, (Upload(task / "checks", VERIFIER),))
    oracle = Oracle((Upload(task / "solve.sh", "/oracle/solve.sh"),), Command(("bash", "/oracle/solve.sh")))
    step = Step("Multiply.", verify, oracle=oracle, agent_timeout=20)
    return replace(RunPlan("product", "packet", task, (step,), workdir=task / "work"), **changes)  # type: ignore[arg-type]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(
        a_plan(tmp_path), "t1", tmp_path / "trial", Options(limits=Limits(memory_mb=256, storage_mb=64, pids=64))
    )


@pytest.fixture
def box(scene: Scene) -> Iterator[LocalEnvironment]:
    environment = local.start(scene, local.prepare(scene))
    yield environment
    environment.close()


@pytest.fixture
def grader(box: LocalEnvironment, scene: Scene) -> Iterator[LocalEnvironment]:
    out = local.grader(scene, scene.plan.steps[0], box)
    out.upload(scene.plan.steps[0].verify.overlay[0])
    yield out
    out.close()


def sh(environment: LocalEnvironment, line: str, *, timeout: float = 20, split: bool = False, **more: object) -> Ran:
    command = Command(("bash", "-c", line), timeout=timeout, **more)  # type: ignore[arg-type]
    return environment.run(command, environment.scene.folder / "log", split=split)


# ---------------------------------------------------------------- what it gives


def test_command_runs_in_a_private_copy_of_the_workdir(box: LocalEnvironment, scene: Scene) -> None:
    ran = sh(box, "pwd; cat factors.txt; echo 13 > factors.txt; echo x > new; echo oops >&2; exit 3", split=True)
    assert (ran.exit_code, ran.stdout.decode(), ran.stderr.decode()) == (3, f"{WORKSPACE}\n6\n7\n", "oops\n")
    assert ran.log is not None
    assert "oops" in ran.log.read_text()
    assert scene.plan.workdir is not None
    assert sorted(p.name for p in scene.plan.workdir.iterdir()) == ["factors.txt"]
    assert (scene.plan.workdir / "factors.txt").read_text() == "6\n7\n"
    assert box.read(f"{WORKSPACE}/factors.txt") == b"13\n"


def test_only_what_is_declared_is_in_the_environment(box: LocalEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "secret")
    ran = box.run(Command(("env",), env=(("GIVEN", "a b"),)), None)
    names = {line.partition("=")[0] for line in ran.output.splitlines()}
    assert names == {"PATH", "HOME", "TMPDIR", "LANG", "PWD", "GIVEN"}
    assert "GIVEN=a b" in ran.output.splitlines()


def test_python_of_this_environment_is_there_with_its_packages(box: LocalEnvironment) -> None:
    ran = sh(box, "python3 -c 'import pytest, sys; print(sys.version_info[:2])'")
    assert (ran.exit_code, ran.output.strip()) == (0, str(sys.version_info[:2]))


def test_stdin_reaches_the_command_however_large(box: LocalEnvironment) -> None:
    assert sh(box, "wc -c", stdin=b"x" * 3_000_000).output.strip() == "3000000"
    assert sh(box, "cat").output == ""
    assert sh(box, "exit 0", stdin=b"x" * 3_000_000).exit_code == 0


@pytest.mark.parametrize(
    ("argv", "cwd", "code"),
    [
        (("no-such-program",), None, 127),
        ((f"{WORKSPACE}/missing.sh",), None, 127),
        ((f"{WORKSPACE}/factors.txt",), None, 126),
        (("true",), "/no/such/folder", 126),
        (("bash", "-c", "kill -9 $$"), None, 137),
    ],
)
def test_commands_that_cannot_run_are_told_from_those_that_fail(
    box: LocalEnvironment, argv: tuple[str, ...], cwd: str | None, code: int
) -> None:
    assert box.run(Command(argv, cwd=cwd), None).exit_code == code


def test_inline_files_and_links_of_the_workdir_stay_inside(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    plan = a_plan(tmp_path, inline_files=(("deep/er/note.txt", "hello\n"), ("door/planted", "x")))
    assert plan.workdir is not None
    (plan.workdir / "door").symlink_to(outside)
    environment = local.start(Scene(plan, "t", tmp_path / "trial", Options()))
    try:
        assert environment.read(f"{WORKSPACE}/deep/er/note.txt") == b"hello\n"
        assert list(outside.iterdir()) == []
    finally:
        environment.close()


# ---------------------------------------------------------------- what it hides


def test_nothing_of_the_host_is_there(box: LocalEnvironment, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    repository = Path(__file__).parents[2]
    hidden = [secret, repository / "pyproject.toml", Path("/etc/shadow"), Path("/var/log"), Path("/run"), Path("/home")]
    hidden += [Path.home() / name for name in (".bashrc", ".ssh", ".profile", ".docker")]
    hidden += [Path("/sys/kernel"), Path("/proc/1/root/etc/shadow"), Path("/dev/sda"), Path("/dev/kmsg")]
    for path in hidden:
        assert sh(box, f"cat '{path}' || ls '{path}/'").exit_code != 0, path
    sockets = "find / -xdev -type s 2>/dev/null; find /tmp /dev -type s 2>/dev/null"
    assert sh(box, sockets).output == ""


def test_the_system_cannot_be_written(box: LocalEnvironment) -> None:
    for place in ("/usr/bin/x", "/etc/x", "/x", "/dev/x", "/bin/x", f"{sys.prefix}/x", "/oracle"):
        assert sh(box, f"touch '{place}'").exit_code != 0, place
    kernel = "/proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/kernel/hostname"
    assert sh(box, f"for f in {kernel}; do test -w $f && echo $f; done").output == ""
    assert sh(box, "touch /tmp/x /dev/shm/x").exit_code == 0
    assert sh(box, "ls /tmp/x /dev/shm/x").exit_code != 0  # private to each command


def test_no_network_not_even_the_hosts_own(box: LocalEnvironment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as hidden:
        hidden.bind("\0scenlint-test-abstract")
        hidden.listen()
        port = server.getsockname()[1]
        probe = f"""
            import socket
            for address in (("127.0.0.1", {port}), ("1.1.1.1", 53)):
                try:
                    socket.create_connection(address, timeout=3)
                    print("connected", address)
                except OSError:
                    pass
            try:
                socket.socket(socket.AF_UNIX).connect("\\0scenlint-test-abstract")
                print("connected")
            except OSError:
                pass
            print([name for _, name in socket.if_nameindex()])
        """
        ran = box.run(Command(("python3", "-c", textwrap.dedent(probe))), None)
    assert ran.output.strip() == "['lo']"


def test_no_rights_and_no_other_processes(box: LocalEnvironment) -> None:
    status = sh(box, "grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status").output.split()
    assert status == ["CapPrm:", "0" * 16, "CapEff:", "0" * 16, "NoNewPrivs:", "1"]
    assert len(sh(box, "ls -d /proc/[0-9]*").output.split()) <= 4
    assert sh(box, "mount -t tmpfs none /mnt || mount --bind / /workspace").exit_code != 0


def test_a_command_cannot_reach_those_of_another_trial(tmp_path: Path, box: LocalEnvironment) -> None:
    other = local.start(Scene(a_plan(tmp_path / "two"), "t2", tmp_path / "two" / "trial", Options()))
    try:
        threads = [threading.Thread(target=sh, args=(box, "sleep 3; touch survived"))]
        threads[0].start()
        time.sleep(0.5)
        assert "sleep 3" not in sh(other, "cat /proc/*/cmdline | tr '\\0' ' '; kill -9 -1").output
        threads[0].join()
        assert box.read(f"{WORKSPACE}/survived") == b""
        if bubblewrap.identity().user is not None:
            assert box.identity != other.identity
    finally:
        other.close()


# ---------------------------------------------------------------- the verifier


def test_verifier_is_absent_while_the_agent_works_and_read_only_afterwards(
    box: LocalEnvironment, grader: LocalEnvironment
) -> None:
    assert sh(box, f"ls {VERIFIER}").exit_code != 0
    assert sh(box, f"mkdir {VERIFIER}").exit_code != 0
    assert sh(grader, f"cat {VERIFIER}/want.txt").output == "42\n"
    assert sh(grader, f"echo 1 > {VERIFIER}/want.txt").exit_code != 0
    assert sh(box, f"ls {VERIFIER}").exit_code != 0


def test_what_the_agent_left_running_is_gone_before_the_grading(
    box: LocalEnvironment, grader: LocalEnvironment
) -> None:
    daemon = "(setsid bash -c 'while :; do date +%N > beat; sleep 0.05; done' >/dev/null 2>&1 &); sleep 0.3"
    assert sh(box, daemon).exit_code == 0
    first = box.read(f"{WORKSPACE}/beat")
    assert first
    time.sleep(0.4)
    assert box.read(f"{WORKSPACE}/beat") == first
    assert sh(grader, "ls -d /proc/[0-9]* | wc -l").output.strip() <= "5"


def test_links_that_the_agent_left_are_not_followed_out(box: LocalEnvironment, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    upload = tmp_path / "upload"
    upload.mkdir()
    (upload / "test.py").write_text("fresh")
    sh(
        box,
        f"ln -s '{outside}' tests; ln -s '{outside}/secret' out.txt; mkfifo pipe;"
        "mkdir d; ln -s /etc d/link; echo 1 > d/f",
    )
    assert box.read(f"{WORKSPACE}/out.txt") is None
    assert box.read(f"{WORKSPACE}/tests/secret") is None
    assert box.read(f"{WORKSPACE}/pipe") is None
    box.upload(Upload(upload, f"{WORKSPACE}/tests"))
    box.upload(Upload(upload / "test.py", f"{WORKSPACE}/out.txt"))
    assert box.read(f"{WORKSPACE}/tests/test.py") == b"fresh"
    box.remove(f"{WORKSPACE}/tests")
    assert sorted(p.name for p in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == "secret"
    assert box.collect(WORKSPACE, tmp_path / "collected")
    found = {p.relative_to(tmp_path / "collected").as_posix() for p in (tmp_path / "collected").rglob("*")}
    assert found == {"factors.txt", "out.txt", "d", "d/f"}


def test_files_that_the_agent_locked_are_read_and_removed(scene: Scene, tmp_path: Path) -> None:
    environment = local.start(scene, local.prepare(scene))
    sh(environment, "mkdir -p a/b; echo 1 > a/b/c; chmod 0 a/b/c a/b a")
    assert environment.collect(f"{WORKSPACE}/a", tmp_path / "collected")
    assert (tmp_path / "collected/b/c").read_text() == "1\n"
    environment.close()
    assert environment.problem == ""
    assert not environment.home.exists()


@pytest.mark.parametrize("path", ["/etc/passwd", "/tmp/x", "relative", f"{WORKSPACE}/../x", "/usr/bin/python3", "/"])
def test_uploads_cannot_replace_the_system(box: LocalEnvironment, tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Fault):
        box.upload(Upload(tmp_path / "file", path))


def graded(scene: Scene, box: LocalEnvironment, line: str, **verify: object) -> Ran:
    step = replace(scene.plan.steps[0], verify=replace(scene.plan.steps[0].verify, **verify))  # type: ignore[arg-type]
    out = local.grader(scene, step, box)
    try:
        return sh(out, line)
    finally:
        out.close()


CONTEXT = (("WAZA_GRADING_CONTEXT", "context.json", '{"version": 1}'),)


def test_private_file_is_there_for_the_grader_only_and_gone_afterwards(scene: Scene, box: LocalEnvironment) -> None:
    show = 'cat "$WAZA_GRADING_CONTEXT"; stat -c " %a %U" "$WAZA_GRADING_CONTEXT" "$(dirname "$WAZA_GRADING_CONTEXT")"'
    ran = graded(
        scene, box, show + "; echo $WAZA_WORKSPACE_DIR", private_files=CONTEXT, workspace_variable="WAZA_WORKSPACE_DIR"
    )
    assert ran.output.split() == ['{"version":', "1}", "600", "agent", "700", "agent", WORKSPACE]
    assert not list(box.home.rglob("context.json"))
    assert "CONTEXT" not in sh(box, "env").output


@pytest.mark.parametrize(
    "line",
    [
        'rm "$C"',
        'mv "$C" "$C.old"; echo x > "$C"',
        'rm "$C"; ln -s /etc/passwd "$C"',
        'd=$(dirname "$C"); mv "$d" "$d.old"; mkdir "$d"; echo x > "$C"',
    ],
)
def test_private_file_that_was_replaced_is_an_error_that_names_it(
    scene: Scene, box: LocalEnvironment, line: str
) -> None:
    with pytest.raises(Fault, match=r"/private/grading-\w+.* was moved, deleted or replaced"):
        graded(scene, box, line, private_files=(("C", "context.json", "{}"),))


# ---------------------------------------------------------------- limits


def test_timeout_ends_everything_that_was_started(box: LocalEnvironment) -> None:
    began = time.monotonic()
    ran = sh(box, "setsid bash -c 'while :; do date +%N > beat; sleep 0.05; done' & sleep 60", timeout=1)
    assert (ran.exit_code, ran.timed_out) == (None, True)
    assert time.monotonic() - began < 4
    first = box.read(f"{WORKSPACE}/beat")
    time.sleep(0.3)
    assert box.read(f"{WORKSPACE}/beat") == first


def test_a_daemon_that_holds_the_output_does_not_hold_the_command(box: LocalEnvironment) -> None:
    began = time.monotonic()
    assert sh(box, "setsid sleep 30 & echo started").output == "started\n"
    assert time.monotonic() - began < 3


def test_endless_output_is_bounded_and_the_rest_goes_on(box: LocalEnvironment) -> None:
    ran = sh(box, "head -c 100000000 /dev/zero | tr '\\0' y; echo end", split=True)
    assert (ran.exit_code, len(ran.stdout)) == (0, 64 * 1024 * 1024)
    assert len(ran.output) < 40_000
    assert ran.output.endswith("end\n")


def test_memory_and_processes_are_limited(box: LocalEnvironment) -> None:
    assert sh(box, "python3 -c 'bytearray(1 << 30)'").exit_code != 0
    if bubblewrap.identity().counts_alone or "pids" in box._group.held:
        bomb = """if True:
            import os, signal
            n = 0
            try:
                while True:
                    if os.fork() == 0:
                        signal.pause()
                    n += 1
            except OSError:
                print(n)
        """
        assert 10 < int(box.run(Command(("python3", "-c", bomb), timeout=20), None).output) < 70
    assert sh(box, "echo still here").output == "still here\n"


def test_processors_are_limited_where_no_group_counts_their_time() -> None:
    count = "import os; print(len(os.sched_getaffinity(0)))"
    ran = bubblewrap.run(Box(limits=Limits(cpus=1), identity=bubblewrap.identity()), ["python3", "-c", count], None)
    assert ran.output.split()[-1] == "1"


def test_folders_of_the_harness_are_fresh_and_writable(grader: LocalEnvironment, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("1")
    grader.upload(Upload(tmp_path / "old", "/logs/verifier/reward.txt"))
    grader.fresh(("/logs/verifier",))
    assert grader.read("/logs/verifier/reward.txt") is None
    assert sh(grader, "echo 0.5 > /logs/verifier/reward.txt").exit_code == 0
    assert grader.read("/logs/verifier/reward.txt") == b"0.5\n"


def test_a_full_workdir_ends_the_command_and_not_the_machine(box: LocalEnvironment) -> None:
    with pytest.raises(GoneError, match="64 MB"):
        sh(box, "for n in $(seq 100); do head -c 10M /dev/zero > f$n; done; sleep 10")


def test_a_single_file_cannot_exceed_the_disk(box: LocalEnvironment) -> None:
    ran = sh(box, "head -c 100M /dev/zero > big; echo $?; rm big")
    assert ran.output.split()[-1] != "0"


def test_killing_all_that_can_be_seen_hurts_nobody_else(box: LocalEnvironment) -> None:
    ran = sh(box, "kill -9 1 $PPID; sleep 0.2; kill -9 -1")
    assert ran.exit_code != 0
    assert sh(box, "echo still here").output == "still here\n"


def test_the_users_wish_to_stop_ends_a_command(scene: Scene) -> None:
    stop = threading.Event()
    environment = local.start(replace(scene, stop=stop))
    try:
        threading.Timer(0.5, stop.set).start()
        with pytest.raises(StoppedError):
            sh(environment, "sleep 30")
    finally:
        environment.close()


def test_a_killed_harness_takes_its_sandboxes_with_it(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    driver = f"""
        from pathlib import Path
        from scenlint.harness import local
        from scenlint.harness.engine import Options
        from scenlint.harness.scene import Scene
        from scenlint.task.plan import Command, RunPlan
        plan = RunPlan("t", "packet", Path({str(tmp_path)!r}), (), workdir=Path({str(tmp_path / "work")!r}))
        box = local.start(Scene(plan, "t", Path({str(tmp_path / "trial")!r}), Options()))
        box.run(Command(("bash", "-c", "while :; do date +%N > beat; sleep 0.05; done")), None)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(driver)])
    beat = tmp_path / "trial/sandbox/work/beat"
    deadline = time.monotonic() + 20
    while not beat.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.3)
    first = beat.read_text()
    time.sleep(0.3)
    assert beat.read_text() == first


# ---------------------------------------------------------------- trials


def test_oracle_earns_all_and_nop_nothing(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, 'diff answer.txt "$SCENLINT_VERIFIER/want.txt"')
    record = trial.run(plan, OracleAgent(), tmp_path / "one")
    assert (record.status, record.reward, record.harness and record.harness.reward) == (Status.PASSED, 1.0, 1.0)
    assert "bubblewrap" in record.image
    assert not (tmp_path / "one/sandbox").exists()
    record = trial.run(plan, Nop(), tmp_path / "two")
    assert (record.status, record.reward, record.failure_class) == (Status.FAILED, 0.0, FailureClass.WRONG_ANSWER)


@pytest.mark.parametrize(
    "line",
    [
        f"mkdir -p {VERIFIER} && echo 41 > {VERIFIER}/want.txt; echo 41 > answer.txt",
        f"ln -s {VERIFIER}/want.txt answer.txt; ln -s / root",
        "printf '#!/bin/sh\\nexit 0\\n' > diff; chmod +x diff; export PATH=$PWD:$PATH",
        "echo 42 > /tmp/answer.txt; (setsid bash -c 'sleep 1; echo 42 > answer.txt' &)",
        "kill -9 -1",
        "curl -s http://127.0.0.1 > answer.txt; cat /oracle/solve.sh > answer.txt",
    ],
)
def test_no_agent_earns_what_it_did_not_do(tmp_path: Path, line: str) -> None:
    plan = a_plan(
        tmp_path, 'test -f answer.txt -a ! -L answer.txt && sleep 1.2 && diff answer.txt "$SCENLINT_VERIFIER/want.txt"'
    )
    record = trial.run(plan, CommandAgent(("bash", "-c", line)), tmp_path / "trial")
    assert record.status is not Status.PASSED
    assert record.reward in (None, 0.0)


def test_a_trial_that_is_graded_counts_although_a_stop_was_wanted(tmp_path: Path) -> None:
    for last, reward in {"verify": None, "verdict": 1.0, "collect": 1.0}.items():
        stop = threading.Event()
        record = trial.run(
            a_plan(tmp_path),
            OracleAgent(),
            tmp_path / last,
            stop=stop,
            on_phase=lambda _, phase, last=last, stop=stop: stop.set() if phase.name == last else None,  # type: ignore[misc]
        )
        assert record.reward == reward, record.failure_evidence
        assert [p.name for p in record.phases if p.name != "remove"][-1] == "collect"
        assert not (tmp_path / last / "sandbox").exists()


def test_a_sandbox_that_cannot_be_made_is_the_machines_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bin/bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no more namespaces >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    record = trial.run(a_plan(tmp_path), OracleAgent(), tmp_path / "trial")
    assert (record.reward, record.failure_class) == (None, FailureClass.INFRASTRUCTURE)
    assert obstacle(record).startswith("infrastructure: the sandbox could not be made: ")
    assert "no more namespaces" in record.failure_evidence


def test_verifier_that_hangs_is_no_verdict(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, "sleep 60")
    verify = replace(plan.steps[0].verify, timeout=1.0)
    record = trial.run(replace(plan, steps=(replace(plan.steps[0], verify=verify),)), OracleAgent(), tmp_path / "trial")
    assert (record.status, record.reward, record.failure_class) == (
        Status.NO_VERDICT,
        None,
        FailureClass.VERIFIER_ERROR,
    )


def test_a_task_that_wants_the_network_must_name_an_image(tmp_path: Path) -> None:
    record = trial.run(a_plan(tmp_path, network=Network.PUBLIC), OracleAgent(), tmp_path / "trial")
    assert record.failure_class is FailureClass.CONFIGURATION
    assert "image" in record.failure_evidence


def test_without_bubblewrap_the_message_says_what_to_install() -> None:
    code = """if True:
        from scenlint.harness import bubblewrap
        try:
            bubblewrap.version()
        except Exception as error:
            print(type(error).__name__, error)
    """
    env = {**os.environ, "PATH": "/nonexistent"}
    told = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60).stdout
    assert told.startswith("NotRunnableError")
    assert "install" in told
    assert "bubblewrap" in told


def test_nothing_is_left_of_a_closed_sandbox(scene: Scene) -> None:
    environment = local.start(scene, local.prepare(scene))
    groups = list(environment._group.folders)
    sh(environment, "setsid sleep 100 & echo 1 > f")
    environment.close()
    environment.close()
    assert not environment.home.exists()
    assert not any(folder.exists() for folder in groups)


@pytest.mark.skipif(not ROOT, reason="changes to another user")
def test_a_normal_user_can_run_trials_too(tmp_path: Path) -> None:
    interpreter = next((p for p in (sys.executable, "/usr/bin/python3") if _runs_for_others(p)), None)
    if interpreter is None:
        pytest.skip("no Python of at least 3.11 that another user can run")
    place = Path("/tmp") / f"scenlint-test-{os.getpid()}"
    place.mkdir()
    try:
        plan = a_plan(place)
        shutil.copytree(
            Path(__file__).parents[2] / "scenlint", place / "code/scenlint", ignore=shutil.ignore_patterns("*.pyc")
        )
        (place / "out").mkdir()
        os.chown(place / "out", 65534, 65534)
        driver = f"""
            import sys
            sys.path.insert(0, {str(place / "code")!r})
            from pathlib import Path
            from scenlint.harness import trial
            from scenlint.harness.agents import OracleAgent
            from scenlint.task.plan import *
            from pathlib import PosixPath
            print(trial.run({plan!r}, OracleAgent(), Path({str(place / "out/t")!r})).summary)
        """
        driver = driver.replace("<Where.LOCAL: 'local'>", "Where.LOCAL").replace(
            "<Reader.PACKET: 'packet'>", "Reader.PACKET"
        )
        driver = driver.replace("<Network.NONE: 'none'>", "Network.NONE")
        told = subprocess.run(
            [interpreter, "-c", textwrap.dedent(driver)],
            user=65534,
            group=65534,
            extra_groups=[],
            env={"PATH": "/usr/bin:/bin"},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert told.stdout.strip() == "oracle: reward 1, 1 of 1 checks passed", told.stdout + told.stderr
    finally:
        with suppress(OSError):
            shutil.rmtree(place)


def _runs_for_others(python: str) -> bool:
    probe = "import sys; sys.exit(sys.version_info < (3, 11))"
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run([python, "-c", probe], user=65534, group=65534, cwd="/", timeout=60, capture_output=True)
        return done.returncode == 0
    return False


def test_what_a_killed_run_left_is_swept_at_the_next_start(scene: Scene) -> None:
    probe = Group(Limits(pids=9))
    probe.close()
    if not probe.held:
        pytest.skip("control groups cannot be made here")
    code = "from scenlint.harness.cgroups import *; print(*Group(Limits(pids=9)).folders)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stdout.split()
    assert made
    local.prepare(scene)
    assert not any(Path(folder).exists() for folder in made)
