"""Where the rules about reproducible tasks speak and where they stay silent, beyond the examples of their pages."""

import pytest

from scenlint.testing import base_task, lint

IMAGE = "FROM {}@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de\nWORKDIR /app\n"
HEAD = "import glob, json, os, random, subprocess, urllib.request\nfrom pathlib import Path\n"
GRADE = "#!/bin/bash\nif {}; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n"
ONLINE = 'version = "1.0"\n\n[agent]\ntimeout_sec = 300.0\n\n[verifier]\ntimeout_sec = 60.0\n'


@pytest.fixture
def found(tmp_path):
    """Lay files over a sound task and lint it with one rule: found(rule, {path: text}) -> findings."""

    def run(rule, files):
        root = base_task("harbor", tmp_path / f"task{len(list(tmp_path.iterdir()))}")
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        return lint(root, rule)

    return run


def checks(body):
    return {
        "tests/test.sh": GRADE.format("pytest /tests/test_outputs.py"),
        "tests/test_outputs.py": HEAD + "\n\ndef test_it():\n" + "".join(f"    {line}\n" for line in body.splitlines()),
    }


# unseeded-random


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("assert random.random() < 0.9", 1),
        ('rows = json.load(open("/app/a.json"))\nrow = random.choice(rows)\nassert row["x"] == 1', 1),
        ('rows = json.load(open("/app/a.json"))\nrandom.shuffle(rows)\nassert rows[0]["x"] == 1', 1),
        ('r = random.Random()\nrow = r.choice([1, 2])\nassert str(row) in open("/app/a").read()', 1),
        ('r = random.Random(7)\nrow = r.choice([1, 2])\nassert str(row) in open("/app/a").read()', 0),
        ('random.seed(7)\nassert str(random.choice([1, 2])) in open("/app/a").read()', 0),
        ('n = random.randint(1, 9)\nsubprocess.run(["/app/p", str(n)], timeout=9)\nassert n > 0', 0),
        ('port = random.randint(2000, 3000)\nPath(f"/tmp/{port}").write_text("x")\nassert port', 0),
        ("while random.random() < 0.5:\n    pass\nassert Path('/app/a').read_text() == '42'", 0),
    ],
)
def test_whether_a_drawn_value_decides(found, body, reported):
    assert len(found("unseeded-random", checks(body))) == reported


# external-network


def test_one_finding_for_a_host_with_every_place(found):
    body = 'for q in ("a", "b"):\n    urllib.request.urlopen("https://example.org/" + q)\nurllib.request.urlopen("https://example.org/c")'
    (finding,) = found("external-network", checks(body))
    assert "`example.org`" in finding.message
    assert len(finding.related) == 1


@pytest.mark.parametrize(
    "body",
    [
        'urllib.request.urlopen("http://127.0.0.1:8000/")',
        'urllib.request.urlopen("http://api/health")',
        'urllib.request.urlopen(os.environ["URL"])',
        'subprocess.run(["git", "clone", "https://example.org/x.git"], timeout=9)',
    ],
)
def test_near_and_unknown_hosts_and_downloads(found, body):
    assert found("external-network", checks(body)) == []


# listing-order


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ('names = [p.name for p in Path("/app/out").iterdir()]\nassert names == ["a", "b"]', 1),
        ('names = [p.name for p in Path("/app/out").iterdir()]\nnames.sort()\nassert names == ["a", "b"]', 0),
        ('assert glob.glob("/app/*.csv")[0] == "/app/a.csv"', 1),
        ('assert next(Path("/app").glob("*.csv")).read_text() == "1"', 1),
        ('assert list(Path("/app").glob("a.csv"))[0].read_text() == "1"', 0),
        ('found = glob.glob("/app/*.csv")\nassert len(found) == 1\nassert open(found[0]).read() == "1"', 0),
        ('assert os.listdir("/app/out") == ["a"]', 0),
        ('assert set(os.listdir("/app/out")) == {"a", "b"}', 0),
        ('assert sorted(set(open("/app/a").read().split())) == ["a", "b"]', 0),
        ('assert tuple(set(open("/app/a").read().split())) == ("a", "b")', 1),
    ],
)
def test_whether_the_order_matters(found, body, reported):
    assert len(found("listing-order", checks(body))) == reported


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("f=$(find /app -name '*.csv' | head -n1)", 1),
        ("f=$(find /app -name '*.csv' | sort | head -n1)", 0),
        ("find /app -name '*.csv' | head -n 20", 0),
        ("f=$(ls /app/*.csv | head -n1)", 0),
    ],
)
def test_the_first_of_what_find_prints(found, line, reported):
    script = f'#!/bin/bash\n{line}\n[ -s "$f" ] && echo 1 > /logs/verifier/reward.txt\n'
    assert len(found("listing-order", {"tests/test.sh": script})) == reported


# implicit-download


@pytest.mark.parametrize(
    ("command", "image", "reported"),
    [
        ("go test ./...", IMAGE.format("golang:1.23"), 1),
        ("go version", IMAGE.format("golang:1.23"), 0),
        ("go test ./...", IMAGE.format("golang:1.23") + "RUN go mod download\n", 0),
        ("go test ./...", IMAGE.format("golang:1.23") + "ENV GOFLAGS=-mod=vendor\n", 0),
        ("GO111MODULE=off go test ./...", IMAGE.format("golang:1.10"), 0),
        ("./gradlew test", IMAGE.format("eclipse-temurin:21"), 1),
        ("./gradlew test --offline", IMAGE.format("eclipse-temurin:21"), 0),
        ("npx jest", IMAGE.format("node:22"), 1),
        ("npx jest", IMAGE.format("node:22") + "RUN yarn install --frozen-lockfile\n", 0),
        ("go test ./...", IMAGE.format("acme/builder:1"), 0),
    ],
)
def test_tools_that_fetch_what_they_miss(found, command, image, reported):
    files = {"task.toml": ONLINE, "tests/test.sh": GRADE.format(command), "environment/Dockerfile": image}
    assert len(found("implicit-download", files)) == reported


def test_nothing_is_fetched_with_the_network_off(found):
    files = {"tests/test.sh": GRADE.format("go test ./..."), "environment/Dockerfile": IMAGE.format("golang:1.23")}
    assert found("implicit-download", files) == []


# cpu-count-dependence


def test_processors_are_counted_once_for_a_task(found):
    files = {
        "environment/Dockerfile": IMAGE.format("gcc:14") + "RUN make -j$(nproc)\n",
        "solution/solve.sh": '#!/bin/bash\nmake -j"$(nproc)"\necho 42 > /app/answer.txt\n',
    }
    (finding,) = found("cpu-count-dependence", files)
    assert finding.location.path.name == "Dockerfile"
    assert [place.path.name for place in finding.related] == ["solve.sh"]
