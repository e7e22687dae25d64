"""Probes without an engine: every one has its page, knows where to strike, and is judged by what came of it."""

import io
import json
import platform
import re
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from scenlint.dynamic.experiments import Context, Wishes
from scenlint.dynamic.gate import Shown, Subject
from scenlint.dynamic.image_search import search_image
from scenlint.dynamic.probes import load_probes
from scenlint.dynamic.probes.attack import SAME, SKIPPED, Attack
from scenlint.dynamic.probes.ground import grounds
from scenlint.dynamic.probes.library import library
from scenlint.dynamic.probes.outcome import LEAKED, judge, without_control
from scenlint.dynamic.probes.patience import bounded, patience
from scenlint.formats.harbor import FORMAT as HARBOR
from scenlint.harness.engine import Options
from scenlint.task.attacks import SIMPLER
from scenlint.task.needles import leaks, needles
from scenlint.testing import base_task, load_task, records

BOOK = Path(__file__).parents[2] / "rules/probes"
SECTIONS = ["What it does", "Where", "What it means when it gets through", "How to withstand it", "Bad", "Good"]


# ---------------------------------------------------------------- pages


def test_every_probe_has_a_page_and_every_page_a_probe():
    assert {p.name for p in BOOK.glob("*.md")} == {Path(p.page).name for p in load_probes().values()}


@pytest.mark.parametrize("probe", load_probes().values(), ids=lambda p: p.name)
def test_a_page_has_its_sections_and_the_probe_a_rule_and_a_summary(probe):
    page = (BOOK / Path(probe.page).name).read_text()
    assert page.splitlines()[0] == f"# {probe.name}"
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == SECTIONS
    assert probe.rule in SIMPLER
    assert probe.rule in page
    assert probe.summary.endswith(".")


# ---------------------------------------------------------------- grounds


@pytest.fixture
def ground(tmp_path):
    task = load_task(base_task("harbor", tmp_path / "task"))
    return grounds(task, HARBOR.plan(task), None, ())[0]


def test_the_result_that_brief_and_verifier_name_is_found(ground):
    assert ground.outputs == ("/app/answer.txt",)


def test_attacks_are_named_after_their_probe_and_speak_for_one_rule(ground):
    made = {name: list(probe.attacks(ground)) for name, probe in load_probes().items()}
    for name, attacks in made.items():
        assert all(a.name.startswith(f"probe:{name}") and a.rule in SIMPLER and a.did for a in attacks), name
    names = [a.name for attacks in made.values() for a in attacks]
    assert len(names) == len(set(names))
    assert {"empty-files", "copied-brief", "planted-verdicts", "links-to-truth"} <= {n for n, a in made.items() if a}


def test_every_attack_is_a_script_that_the_shell_can_read(ground):
    for probe in load_probes().values():
        for attack in probe.attacks(ground):
            checked = subprocess.run(["sh", "-n"], input=attack.script, text=True, capture_output=True)
            assert checked.returncode == 0, (attack.name, checked.stderr)


def test_the_same_task_is_attacked_in_the_same_way_again(ground):
    once, again = ([repr(a) for p in load_probes().values() for a in p.attacks(ground)] for _ in range(2))
    assert once == again


# ---------------------------------------------------------------- outcomes

ATTACK = Attack("", "did something", probe="empty-files", rule="passes-empty-output")


def judged(reward, nop=0.0, said="wrote /app/x", **more):
    phase = {"name": "agent", "output": said}
    given = [{"agent": "probe:empty-files", "reward": reward, "phases": [phase], **more}]
    record, other = records([*given, {"agent": "nop", "reward": nop}])
    return judge(ATTACK, record, other)


def test_full_marks_and_more_than_nothing_earns_are_broken():
    assert judged(1.0).outcome == "broken"
    assert judged(0.4, nop=0.3).outcome == "broken"
    assert judged(0.3, nop=0.3).outcome == "holds"
    assert "wrote /app/x" in judged(1.0).evidence


def test_a_pass_that_only_the_formats_own_harness_records_is_broken():
    fooled = {"harness": {"reward": 1.0, "passed": True}}
    assert judged(0.0, **fooled).outcome == "broken"


def test_a_verdict_that_the_attack_took_away_is_laundered_and_a_machines_fault_shows_nothing():
    lost = {"failure_class": "verifier-error", "failure_evidence": "it crashed"}
    assert judged(None, **lost).outcome == "laundered"
    assert judged(None, nop=None, **lost).outcome == "skipped"
    stopped = {"failure_class": "interrupted", "failure_evidence": "interrupted"}
    assert judged(None, **stopped).outcome == "skipped"


def test_what_the_task_asks_for_is_no_cheat():
    told = judged(1.0, said=f"wrote /app/x\n{SAME}")
    assert (told.outcome, told.reason) == ("skipped", "what it did is what the task asks for")


def test_an_attack_that_was_not_tried_says_why():
    told = judged(0.0, said=f"{SKIPPED}: the agent is root")
    assert (told.outcome, told.reason) == ("skipped", "the agent is root")


def test_what_could_be_read_is_a_leak():
    told = judged(0.0, said=f"looked\n{LEAKED} the verifier's file /tests/test.sh")
    assert (told.outcome, told.evidence) == ("leak", "the verifier's file /tests/test.sh")


def test_that_starving_a_verifier_leaves_no_verdict_shows_nothing():
    (lost,) = records([{"agent": "probe:killed-verifier", "reward": None, "failure_class": "verifier-error"}])
    attack = Attack("", "killed it", probe="killed-verifier", rule="verdict-tamperable", starves=True)
    assert judge(attack, lost, records([{"agent": "nop", "reward": 0.0}])[0]).outcome == "skipped"


def test_a_process_that_gets_in_the_way_of_the_harness_says_nothing_of_the_verifier():
    given = {"agent": "probe:background-writer", "reward": None, "failure_class": "verifier-error"}
    (late,) = records([{**given, "phases": [{"name": "overlay", "error": "overlay: directory not empty"}]}])
    (nop,) = records([{"agent": "nop", "reward": 0.0}])
    attack = Attack("", "left a process", probe="background-writer", rule="verdict-tamperable", posture=True)
    assert judge(attack, late, nop).outcome == "skipped"


def test_an_attack_counts_only_where_its_control_lost_marks(tmp_path):
    def made(target, outcome):
        told = {"kind": "probe", "name": "frozen-clock", "target": target, "outcome": outcome, "reason": "full marks"}
        (record,) = records([{"agent": f"probe:frozen-clock#{target}", "reward": 1.0, "experiment": told}])
        return Shown(record, tmp_path, reused=False)

    through, lost, kept = made("stopped", "broken"), made("slow", "holds"), made("slow", "skipped")
    assert without_control([lost, through]) == []
    assert without_control([kept, through]) == [(through, "its control, `slow`, shows nothing: full marks")]
    assert without_control([through]) == [(through, "its control, `slow`, shows nothing: it was not run")]


# ---------------------------------------------------------------- waiting


def test_a_verifier_that_sets_itself_no_limit_is_waited_for_some_times_as_long_as_the_oracles_grading_took():
    assert patience(0.3, "text = open('/app/answer.txt').read()") == 20
    assert patience(7.0, "text = open('/app/answer.txt').read()") == 80


@pytest.mark.parametrize("limit", ["timeout=9", "timeout 9s make", "TIME_LIMIT: float = 9", "signal.alarm(9)"])
def test_a_verifier_with_limits_of_its_own_may_use_them_up_several_times(limit):
    assert patience(0.3, f"x({limit})") == 160


def test_a_verifier_whose_limits_are_not_known_is_waited_for_to_the_end():
    assert patience(0.3, "run(timeout=limit_of(case))") is None


def test_only_the_grading_of_the_attacked_step_is_cut_short(tmp_path):
    task = load_task(base_task("harbor", tmp_path / "task"))
    plan = HARBOR.plan(task)
    slow = tuple(replace(s, verify=replace(s.verify, timeout=900.0)) for s in plan.steps)
    plan = replace(plan, steps=(*slow, replace(slow[0], name="second")))
    (oracle,) = records([{"agent": "oracle", "reward": 1.0, "phases": [{"name": "verify", "duration": 2.5}]}], task)
    shown = Shown(oracle, tmp_path, reused=False)
    about = Context(Subject(task, "task", plan), shown, None, None, Wishes(), Options())
    short = bounded(plan, Attack("", "left a pipe", hangs=True), about, "open('/app/answer.txt')")
    assert [s.verify.timeout for s in short.steps] == [40.0, 900.0]
    assert bounded(short, Attack("", "left a pipe", hangs=True), about, "run(timeout=900)") is None


# ---------------------------------------------------------------- what is planted


@pytest.mark.skipif(platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc", reason="x86-64 and glibc only")
def test_the_library_lets_another_program_start_with_the_arguments_of_the_first(tmp_path):
    start, preloaded = tmp_path / "start", tmp_path / "loader.so"
    start.write_text('#!/bin/sh\n[ "$2" = judge ] && echo taken && exit 0\nexec "$@"\n')
    start.chmod(0o755)
    preloaded.write_bytes(library(str(start)))
    env = {"PATH": "/usr/bin:/bin", "LD_PRELOAD": str(preloaded), "KEPT": "kept"}
    told = [
        subprocess.run(["/bin/sh", *words], env=env, capture_output=True, text=True).stdout
        for words in (["judge"], ["-c", 'echo "$0 $KEPT"', "other"])
    ]
    assert told == ["taken\n", "other kept\n"]


# ---------------------------------------------------------------- images

SECRET = "totals[shop] = totals.get(shop, 0) + int(cents)"


def tarred(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def image(*layers, history=(), env=()):
    names = [f"{n}/layer.tar" for n in range(len(layers))]
    config = {"config": {"Env": list(env)}, "history": [{"created_by": text} for text in history]}
    manifest = [{"Config": "config.json", "Layers": names}]
    files = {"manifest.json": json.dumps(manifest).encode(), "config.json": json.dumps(config).encode()}
    return [tarred({**files, **dict(zip(names, map(tarred, layers), strict=True))})]


def found(export, **more):
    return {(hit.place, hit.seen) for hit in search_image(export, [SECRET], **more)}


def test_files_and_archives_in_archives_are_searched():
    inner = tarred({"work/total.py": SECRET.encode()})
    outer = tarred({"backup.tar": inner})
    assert found(image({"app/total.py": SECRET.encode()})) == {("/app/total.py", True)}
    assert found(image({"opt/all.tar": outer})) == {("/opt/all.tar", True), ("/opt/all.tar!backup.tar", True)} | {
        ("/opt/all.tar!backup.tar!work/total.py", True)
    }


def test_a_file_that_a_later_layer_deletes_is_found_and_marked():
    export = image({"tmp/solve.sh": SECRET.encode()}, {"tmp/.wh.solve.sh": b""})
    assert found(export) == {("/tmp/solve.sh (deleted in a later layer)", False)}
    export = image({"opt/old/solve.sh": SECRET.encode()}, {"opt/.wh.old": b""})
    assert found(export) == {("/opt/old/solve.sh (deleted in a later layer)", False)}


def test_variables_and_history_are_searched_and_the_systems_own_files_are_not():
    assert found(image({}, env=[f"HINT={SECRET}"])) == {("the image's environment variables", True)}
    assert found(image({}, history=[f"RUN echo '{SECRET}'"])) == {("the image's history", False)}
    assert found(image({"usr/share/doc/x": SECRET.encode()})) == set()


def test_git_objects_are_searched_unless_they_are_the_work(tmp_path):
    (tmp_path / "total.py").write_text(SECRET)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-qm", "x"],
        ["rm", "-q", "total.py"],
        ["commit", "-qm", "y"],
    ):
        subprocess.run([*git, *words], check=True, capture_output=True)
    files = {f"app/{p.relative_to(tmp_path)}": p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert found(image(files)) == {("the git objects of /app/.git", True)}
    assert found(image(files), git=False) == set()


# ---------------------------------------------------------------- what is looked for

LINES = [f"total_{n} = combine(first_{n}, second_{n}, third=third_{n})" for n in range(5)]


@pytest.fixture
def task(tmp_path):
    folder = base_task("harbor", tmp_path / "task")
    (folder / "solution/solve.sh").write_text("#!/bin/bash\nset -euo pipefail\npython3 /solution/work.py\n")
    (folder / "solution/work.py").write_text("import json\n" + "\n".join(LINES) + "\n")
    return folder


def test_rare_lines_of_the_solution_are_looked_for_and_common_ones_are_not(task):
    texts = {n.text for n in needles(load_task(task))}
    assert set(LINES) <= texts
    assert not texts & {"import json", "set -euo pipefail"}


def test_lines_that_the_agent_is_given_are_not_looked_for(task):
    (task / "environment/stub.py").write_text(LINES[0] + "\n")
    docker = task / "environment/Dockerfile"
    docker.write_text(docker.read_text() + "COPY stub.py /app/stub.py\n")
    texts = {n.text for n in needles(load_task(task))}
    assert LINES[0] not in texts
    assert LINES[1] in texts


def test_most_of_a_files_lines_are_a_leak_and_a_few_are_none(task):
    loaded = load_task(task)
    own = [n for n in needles(loaded) if n.text in LINES]
    assert [leak.kind for leak in leaks(loaded, [(n, "/app/old.py") for n in own[:4]])] == ["solution"]
    assert leaks(loaded, [(n, "/app/old.py") for n in own[:2]]) == []
