"""One container as an environment, with a real engine: commands and files."""

import os
import time
from dataclasses import replace

import pytest
from plans import make_plan

from scenlint.harness import single
from scenlint.harness.container import ContainerEnvironment
from scenlint.harness.environment import Fault, GoneError
from scenlint.harness.scene import Scene
from scenlint.task.plan import Command, Limits, Upload

pytestmark = pytest.mark.engine


@pytest.fixture
def container(base, options, tmp_path):
    plan = make_plan(tmp_path, base.tag, env=(("FROM_PLAN", "yes"),))
    scene = Scene(plan, f"{options.run}-c", tmp_path / "trial", options)
    made = single.start(scene, single.prepare(scene))
    yield made
    made.close()
    made.close()
    assert made.problem == ""


def sh(container: ContainerEnvironment, text: str, **more):
    split = more.pop("split", False)
    return container.run(Command(("sh", "-c", text), **more), None, split=split)


def test_commands_have_their_environment_folder_user_and_input(container):
    told = sh(
        container,
        'echo "$FROM_PLAN $ADDED"; pwd; id -un; cat',
        env=(("ADDED", "a b"),),
        cwd="/tmp",
        user="nobody",
        stdin=b"in\0put\n" * 20_000,
    )
    first, rest = told.output.split("nobody\n", 1)
    assert first == "yes a b\n/tmp\n"
    assert rest.startswith("in\0put\n")
    assert told.exit_code == 0
    assert sh(container, "pwd").output == "/app\n"


def test_arguments_are_never_given_to_a_shell(container):
    assert container.run(Command(("printf", "%s\n", "$HOME; `id` 'x'")), None).output == "$HOME; `id` 'x'\n"


def test_exit_statuses_and_missing_programs_are_told(container):
    assert sh(container, "exit 7").exit_code == 7
    assert sh(container, "kill -9 $$").exit_code == 137
    missing = container.run(Command(("no-such-program",)), None)
    assert missing.exit_code in (126, 127)
    assert "no-such-program" in missing.output


def test_streams_are_kept_apart_where_asked(container, tmp_path):
    ran = container.run(Command(("sh", "-c", "echo out; echo err >&2")), tmp_path / "log", split=True)
    assert (ran.stdout, ran.stderr) == (b"out\n", b"err\n")
    assert sorted((tmp_path / "log").read_text().split()) == ["err", "out"]
    assert sorted(ran.output.split()) == ["err", "out"]


def test_nothing_of_a_long_output_is_lost_from_the_streams(container):
    ran = sh(container, "seq 1 300000", split=True)
    assert ran.stdout == b"".join(b"%d\n" % n for n in range(1, 300_001))
    assert ran.output.startswith("1\n2\n")
    assert ran.output.endswith("299999\n300000\n")


def test_a_silent_command_is_waited_for(container):
    began = time.monotonic()
    assert sh(container, "sleep 3; echo done").output == "done\n"
    assert time.monotonic() - began < 5


def test_a_command_out_of_time_is_killed_with_all_it_started(container):
    began = time.monotonic()
    ran = sh(container, "setsid sleep 501 & (env -i nohup sleep 502 &) ; sleep 503", timeout=0.5)
    assert (ran.timed_out, ran.exit_code) == (True, None)
    assert time.monotonic() - began < 5
    assert container.processes() == []
    assert sh(container, "echo usable").output == "usable\n"


def test_what_earlier_commands_left_survives_a_later_one_that_is_out_of_time(container):
    sh(container, "setsid sleep 511 >/dev/null 2>&1 &")
    time.sleep(0.3)
    assert sh(container, "sleep 512", timeout=0.5).timed_out
    assert container.processes() == ["sleep 511"]


def test_orphans_are_reaped(container):
    sh(container, "for n in 1 2 3; do (sleep 0.1 &) ; done")
    time.sleep(0.5)
    assert sh(container, "cat /proc/[0-9]*/stat | grep -c ') Z '").output == "0\n"


def test_uploads_are_roots_and_readable_whatever_their_modes_here(container, tmp_path):
    folder = tmp_path / "up"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/data.txt").write_text("data")
    (folder / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (folder / "link").symlink_to("sub/data.txt")
    os.chmod(folder / "sub/data.txt", 0o600)
    container.upload(Upload(folder, "/deep/er/target", executable=True))
    shown = sh(container, "cd /deep/er/target; stat -c '%U %a %n' sub sub/data.txt run.sh; cat link; ./run.sh").output
    assert shown.splitlines() == ["root 755 sub", "root 644 sub/data.txt", "root 755 run.sh", "dataran"]
    container.upload(Upload(folder / "run.sh", "/bin/mine"))
    assert sh(container, "stat -c %a /bin/mine; ls -ld /bin | cut -c1").output == "644\nl\n"


def test_an_upload_adds_to_a_folder_or_clears_it_first(container, tmp_path):
    folder = tmp_path / "up"
    folder.mkdir()
    (folder / "new").write_text("new")
    sh(container, "mkdir -p /t; echo old > /t/old")
    container.upload(Upload(folder, "/t"))
    assert sh(container, "ls /t").output == "new\nold\n"
    container.upload(Upload(folder, "/t", clear=True))
    assert sh(container, "ls /t").output == "new\n"
    sh(container, "rm -r /t; mkdir /away; echo kept > /away/kept; ln -s /away /t")
    container.upload(Upload(folder, "/t", clear=True))
    assert sh(container, "ls /t /away; [ -L /t ] || echo no link").output == "/away:\nkept\n\n/t:\nnew\nno link\n"


def test_an_upload_that_does_not_exist_is_said(container, tmp_path):
    with pytest.raises(Fault, match="does not exist"):
        container.upload(Upload(tmp_path / "missing", "/x"))


def test_only_regular_files_are_read_and_only_so_much(container):
    sh(container, "echo hello > /f; ln -s /f /l; mkfifo /p; mkdir /d; truncate -s 10G /big; chmod 000 /f")
    assert container.read("/f") == b"hello\n"
    assert container.read("/f", limit=3) == b"hel"
    assert container.read("/big", limit=5) == b"\0" * 5
    assert [container.read(p) for p in ("/l", "/p", "/d", "/missing", "/f/x", "/dev/zero")] == [None] * 6


def test_anything_can_be_removed(container):
    sh(container, "mkdir -p /x/y; touch /x/y/z; ln -s /etc /l; ln -s /gone /dangling; mkfifo /p; touch '/-rf'")
    for path in ("/x", "/l", "/dangling", "/p", "/missing", "/-rf"):
        container.remove(path)
    assert sh(container, "ls -d /x /l /dangling /p /-rf 2>/dev/null; ls /etc | head -1").output.count("\n") == 1


def test_what_cannot_be_removed_is_a_fault_of_what_ran(container):
    with pytest.raises(GoneError, match=r"`/etc/hosts` cannot be removed: .*busy"):  # a mount
        container.remove("/etc/hosts")


def test_folders_come_out_without_links_and_within_a_limit(container, tmp_path):
    sh(
        container,
        "mkdir -p /o/sub/empty; echo a > /o/sub/a; chmod 751 /o/sub/a; ln -s /etc/passwd /o/l; ln /o/sub/a /o/b",
    )
    assert container.collect("/o", tmp_path / "out")
    found = sorted(p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*"))
    assert found == ["b", "sub", "sub/a", "sub/empty"]
    assert (tmp_path / "out/sub/a").stat().st_mode & 0o777 == 0o751
    assert container.collect("/o/sub/a", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "a\n"
    assert not container.collect("/missing", tmp_path / "no")
    assert not container.collect("/o/l", tmp_path / "no")
    assert not (tmp_path / "no").exists()
    sh(container, "truncate -s 1G /o/big")
    with pytest.raises(Fault, match="larger than the limit"):
        container.collect("/o", tmp_path / "big", limit=1024 * 1024)


def test_limits_hold_and_those_beyond_this_machine_are_noted(base, options, tmp_path, engine):
    plan = make_plan(tmp_path, base.tag, limits=Limits(cpus=512, memory_mb=128, pids=50))
    scene = Scene(plan, f"{options.run}-l", tmp_path / "trial", options)
    made = single.start(scene, single.prepare(scene))
    try:
        assert made.notes == [f"512 CPUs are asked for, {engine.info['NCPU']} are there"]
        host = engine.api.inspect_container(made.name)["HostConfig"]
        assert (host["Memory"], host["PidsLimit"], host["NetworkMode"]) == (128 * 1024**2, 50, "none")
        assert host["NanoCpus"] == engine.info["NCPU"] * 10**9
        assert sh(made, "for n in $(seq 80); do sleep 5 & done; wait").exit_code != 0
    finally:
        made.close()


def test_a_container_that_was_removed_from_outside_is_said_and_closing_it_is_fine(container, engine):
    engine.api.remove_container(container.name, force=True)
    with pytest.raises(GoneError, match="removed while it was in use"):
        sh(container, "true")


def test_names_in_use_are_a_fault_and_the_other_container_stays(base, options, tmp_path, container):
    plan = make_plan(tmp_path, base.tag)
    scene = Scene(replace(plan), f"{options.run}-c", tmp_path / "trial", options)
    with pytest.raises(Fault, match="already in use"):
        single.start(scene, single.prepare(scene))
    assert sh(container, "echo alive").output == "alive\n"
