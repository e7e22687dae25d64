"""Standard streams that the caller has closed are no fault."""

import subprocess
import sys


def test_closed_streams_do_not_change_the_exit_status(harbor_task):
    script = f"{sys.executable} -c 'from scenlint.cli.app import main; main()' check {harbor_task}"
    for closed in (">&-", ">&- 2>&-"):
        done = subprocess.run(["bash", "-c", f"{script} {closed}"], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
