"""Standard streams that are closed, full, or given up by the caller; and the wish to stop."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from scenlint.cli.app import main; main()"]


def test_closed_streams_do_not_change_the_exit_status(harbor_task):
    script = f"{sys.executable} -c 'from scenlint.cli.app import main; main()' check {harbor_task}"
    for closed in (">&-", ">&- 2>&-"):
        done = subprocess.run(["bash", "-c", f"{script} {closed}"], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")
@pytest.mark.parametrize("arguments", [["check"], ["check", "--format", "json"], ["rules"], ["--help"], ["--version"]])
def test_a_full_disk_behind_the_output_is_said(harbor_task, arguments):
    with open("/dev/full", "w") as full:
        command = [*COMMAND, *arguments, *([str(harbor_task)] if arguments[0] == "check" else [])]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "scenlint: the output cannot be written: No space left on device\n")


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="Linux has it")
def test_an_interrupted_check_says_so(harbor_task):
    for n in range(300):
        shutil.copytree(harbor_task, harbor_task.with_name(f"copy-{n}"))
    command = [*COMMAND, "check", str(harbor_task.parent), "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        while "tree_sitter" not in Path(f"/proc/{run.pid}/maps").read_text():  # then it parses
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert (run.returncode, said) == (130, "scenlint: interrupted\n")
