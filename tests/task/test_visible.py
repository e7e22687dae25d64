"""What the agent can read, and in which forms a name, path, key or number stands in it."""

import pytest

from scenlint.task.image import read_image
from scenlint.task.numbers import find_numbers
from scenlint.task.paths import find_paths
from scenlint.testing import load_task

BASE = "FROM python:3.12-slim@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de\nWORKDIR /app\n"


@pytest.fixture
def visible(harbor_task):
    """Write files into the sound task and return what is visible in it."""

    def make(brief="Do it.", dockerfile="", files=None):
        (harbor_task / "instruction.md").write_text(brief, "utf-8")
        (harbor_task / "environment/Dockerfile").write_text(BASE + dockerfile, "utf-8")
        for path, text in (files or {}).items():
            target = harbor_task / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text) if isinstance(text, bytes) else target.write_text(text, "utf-8")
        return load_task(harbor_task).visible

    return make


# Texts.


def test_a_mention_is_found_with_its_place(visible):
    at = visible("First line.\n\nWrite the TOTAL of\nall rows.").mentions("total of all rows")
    assert (at.source.path.name, at.line, at.column) == ("instruction.md", 3, 11)


def test_marks_quotes_and_dashes_do_not_hide_a_mention(visible):
    seen = visible("Print **Done**: `42` – it’s over. Name it my\\_file.")
    assert seen.mentions("Done: 42 - it's over")
    assert seen.mentions("my_file", word=True)


def test_word_boundaries_are_kept_on_request(visible):
    seen = visible("The totals are in 字段name中.")
    assert seen.mentions("total")
    assert not seen.mentions("total", word=True)
    assert seen.mentions("name", word=True)


def test_shipped_files_are_read_and_what_is_not_copied_is_not(visible):
    seen = visible(
        dockerfile="COPY notes /app/notes\n",
        files={"environment/notes/rules.md": "Use the zebra rule.", "environment/private.md": "giraffe"},
    )
    assert seen.mentions("zebra").source.path.name == "rules.md"
    assert not seen.mentions("giraffe")


def test_dockerignore_hides_what_it_names(visible):
    seen = visible(
        dockerfile="COPY . /app/\n",
        files={"environment/a.txt": "zebra", "environment/b.key": "giraffe", "environment/.dockerignore": "*.key\n"},
    )
    assert seen.mentions("zebra")
    assert not seen.mentions("giraffe")


def test_the_verifier_the_solution_and_the_metadata_are_never_read(visible, harbor_task):
    seen = visible(dockerfile="COPY . /app/\n")
    (harbor_task / "tests/test_outputs.py").write_text("zebra = 1\n")
    (harbor_task / "solution/solve.sh").write_text("echo zebra\n")
    (harbor_task / "task.toml").write_text('version = "1.0"\n[metadata]\ndescription = "zebra"\n')
    assert not load_task(harbor_task).visible.mentions("zebra")
    assert seen.mentions("7")


def test_what_the_dockerfile_sets_is_visible_and_its_comments_are_not(visible):
    seen = visible(dockerfile="# giraffe\nENV MODE=zebra\nRUN useradd -m keeper\n")
    assert seen.mentions("zebra")
    assert seen.mentions("keeper")
    assert not seen.mentions("giraffe")


def test_keys_are_found_in_code_and_data_and_loosely_in_words(visible):
    seen = visible(
        "Report the total amount.",
        "COPY data.csv app.py /app/\n",
        {"environment/data.csv": "client,unit_price\n", "environment/app.py": "def rate(maxItems):\n    pass\n"},
    )
    assert seen.states_key("unit_price")
    assert seen.states_key("maxItems")
    assert seen.states_key("rate")
    assert not seen.states_key("total_amount")
    assert seen.states_key("total_amount", loose=True)
    assert not seen.states_key("grand_total", loose=True)


def test_column_names_inside_a_database_file_count(visible):
    data = b"SQLite format 3\0" + b"\0" * 40 + b"CREATE TABLE orders (order_id INTEGER, zebra TEXT)"
    seen = visible(dockerfile="COPY shop.db /app/\n", files={"environment/shop.db": data})
    assert seen.states_key("zebra")
    assert "shop.db" in seen.opaque


# Paths.


@pytest.mark.parametrize(
    ("brief", "path"),
    [
        ("Write `/app/out.json`.", "/app/out.json"),
        ("Write ./out.json.", "/app/out.json"),
        ("Write out.json.", "/app/out.json"),
        ("Write `report.json` to the folder `/data/out/`.", "/data/out/report.json"),
        ("Write out/report.json.", "/app/out/report.json"),
        ("Write one `/app/plans/<name>.json` per plan.", "/app/plans/north.json"),
        ("Write `/app/frame_*.png`.", "/app/frame_001.png"),
        ("Write `/app/out/a.txt`.", "/app/out/*.txt"),
        ("The mailbox is /var/mail/{user}.", "/var/mail/alice"),
        ("把结果写入/app/结果，文件名为out.json。", "/app/out.json"),
    ],
)
def test_a_path_is_stated_in_many_forms(visible, brief, path):
    assert visible(brief).states_path(path)


@pytest.mark.parametrize(
    ("brief", "path"),
    [
        ("Write `/app/out.json`.", "/app/result.json"),
        ("Write `/app/out.json`.", "/data/out.json"),
        ("Write out/route.json.", "/app/data/out/route.json"),
        ("See https://example.org/app/out.json.", "/app/out.json"),
    ],
)
def test_another_path_is_not(visible, brief, path):
    assert not visible(brief).states_path(path)


def test_a_path_that_shipped_code_writes_is_stated(visible):
    code = 'from pathlib import Path\nPath("/var/lib/app/state.json").write_text("{}")\n'
    assert visible(dockerfile="COPY app.py /app/\n", files={"environment/app.py": code}).states_path(
        "/var/lib/app/state.json"
    )


def test_path_like_words_are_told_from_others():
    text = (
        "Use `/app/a.csv`, ./b.sh, src/c.py, ~/d.txt, e.json and .env and/or Node.js; image/png, 1/2, v1.2, a@b.com, "
        "https://x.y/z.html, read/write, e.g. f.tar.gz and `out/`."
    )
    assert [t.text for t in find_paths(text)] == [
        "/app/a.csv", "./b.sh", "src/c.py", "~/d.txt", "e.json", ".env", "f.tar.gz", "out/",
    ]  # fmt: skip


def test_paths_of_the_brief_come_with_their_place(visible):
    (stated,) = visible("Read\n`/app/a.csv`.").paths()
    assert (stated.text, stated.span.text, stated.span.line) == ("/app/a.csv", "/app/a.csv", 2)


# Numbers.


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("at most 12 %", 0.12), ("within 5 percent", 0.95), ("a share of 0.12", 12), ("twelve rows", 12),
        ("1,000 rows", 1000), ("1_000_000", 1e6), ("10k users", 10_000), ("2^32", 4294967296), ("1e-6", 0.000001),
        ("10⁻⁶", 0.000001), ("two hours", 7200), ("500 ms", 0.5), ("twenty-four", 24), ("5 MB", 5242880),
        ("十二个", 12), ("一百二十", 120), ("两千行", 2000),
    ],
)  # fmt: skip
def test_a_number_is_stated_in_many_spellings(visible, text, number):
    assert visible(f"It takes {text}.").states_number(number)


def test_another_number_or_a_version_is_not(visible):
    seen = visible("Python v1.2.3 and 130 rows.")
    assert not seen.states_number(13)
    assert not seen.states_number(2.3)


def test_numbers_know_where_they_stand():
    text = "about 1,250 rows"
    (found,) = find_numbers(text)
    assert (found.value, text[found.start : found.end]) == (1250, "1,250")


# What exists before the agent starts.


def test_copies_land_where_docker_puts_them(visible):
    seen = visible(
        dockerfile="COPY data /srv/data\nCOPY a.txt b.txt /srv/\nCOPY a.txt renamed.txt\nCOPY *.cfg /etc/x/\n",
        files={f"environment/{p}": "x" for p in ("data/deep/c.csv", "a.txt", "b.txt", "one.cfg")},
    )
    assert {"/srv/data/deep/c.csv", "/srv/a.txt", "/srv/b.txt", "/app/renamed.txt", "/etc/x/one.cfg"} <= set(
        seen.inputs()
    )
    assert seen.inputs()["/app/renamed.txt"].file == "environment/a.txt"


def test_run_steps_make_move_and_remove_files(visible):
    seen = visible(
        dockerfile="RUN mkdir -p /srv/in && cd /srv && echo 1 > in/a.txt && cp in/a.txt b.txt && mv b.txt c.txt\n"
        "RUN touch /srv/d && rm /srv/d\n"
        "COPY <<EOF /srv/e.txt\nhello\nEOF\n"
    )
    assert seen.exists("/srv/in/a.txt")
    assert seen.exists("/srv/c.txt")
    assert seen.exists("/srv/e.txt")
    assert not seen.exists("/srv/b.txt")
    assert not seen.exists("/srv/d")
    assert seen.mentions("hello")


def test_other_stages_lend_what_is_copied_from_them(visible):
    seen = visible(
        dockerfile="COPY a.txt /x/a.txt\nFROM debian:12 AS last\nWORKDIR /home\nCOPY --from=0 /x/a.txt /y/\n",
        files={"environment/a.txt": "zebra"},
    )
    assert seen.exists("/y/a.txt").file == "environment/a.txt"
    assert not seen.exists("/x/a.txt")


def test_a_relative_or_bare_name_is_looked_for_everywhere(visible):
    seen = visible(dockerfile="COPY a.txt /srv/deep/a.txt\n", files={"environment/a.txt": "x"})
    assert seen.exists("a.txt")
    assert seen.exists("deep/a.txt")
    assert not seen.exists("/a.txt")


@pytest.mark.parametrize(
    ("dockerfile", "why"),
    [
        ("RUN git clone https://example.org/x.git\n", "git"),
        ("RUN curl -o data.bin https://example.org/x\n", "curl"),
        ("RUN python make_data.py\n", "python"),
        ("ADD https://example.org/x.tar.gz /x/\n", "downloads"),
        ("COPY big.tar.gz /x/\n", "archive"),
        ("COPY missing.txt /x/\n", "not at hand"),
        ("FROM registry.example/tasks/x:1\n", "registry.example"),
    ],
)
def test_what_cannot_be_known_is_said(visible, dockerfile, why):
    seen = visible(dockerfile=dockerfile, files={"environment/big.tar.gz": b"\x1f\x8b\0\0"})
    assert why in seen.unlisted
    assert why in seen.opaque


def test_an_image_of_an_operating_system_with_packages_is_known(visible):
    seen = visible(dockerfile="RUN apt-get update && apt-get install -y curl && pip install pytest==8.4.1\n")
    assert seen.opaque == ""
    assert read_image(seen.task).unlisted == []


def test_a_prebuilt_image_is_opaque(visible, harbor_task):
    visible()
    (harbor_task / "environment/Dockerfile").unlink()
    (harbor_task / "environment/factors.txt").unlink()
    (harbor_task / "task.toml").write_text('version = "1.0"\n[environment]\ndocker_image = "registry.example/x:1"\n')
    assert "registry.example/x:1" in load_task(harbor_task).visible.opaque


def test_compose_mounts_are_visible(visible, harbor_task):
    visible(files={"environment/conf/app.ini": "zebra"})
    (harbor_task / "environment/docker-compose.yaml").write_text(
        "services:\n  main:\n    build: .\n    volumes:\n      - ./conf:/etc/app:ro\n"
    )
    seen = load_task(harbor_task).visible
    assert seen.mentions("zebra")
    assert seen.exists("/etc/app/app.ini")


def test_a_step_of_a_multi_step_task_does_not_see_later_briefs(tmp_path):
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment/Dockerfile").write_text(BASE)
    (tmp_path / "task.toml").write_text('version = "1.0"\n[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n')
    for step, word in (("one", "zebra"), ("two", "giraffe")):
        folder = tmp_path / "steps" / step / "tests"
        folder.mkdir(parents=True)
        (folder / "test.sh").write_text("#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n")
        (folder.parent / "instruction.md").write_text(f"Write {word}.")
    seen = load_task(tmp_path).visible
    assert seen.mentions("giraffe")
    assert not seen.until("one").mentions("giraffe")
    assert seen.until("one").mentions("zebra")
