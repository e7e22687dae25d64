"""Images with a real engine: built once for their content, replaced as mapped, and said when they cannot be had."""

import os
import time
from pathlib import Path

import pytest
from plans import dockerfile, make_plan, make_step

from scenlint.harness import builder, images
from scenlint.harness.capture import Watch
from scenlint.harness.engine import Options
from scenlint.harness.environment import Fault, FaultTimeoutError
from scenlint.harness.images import Ready, substitute
from scenlint.task.plan import Build, Container, Image, Where

pytestmark = pytest.mark.engine

PINNED = "python:3.12-slim@sha256:" + "1" * 64


@pytest.fixture
def prepare(engine, options, tmp_path, built):
    def go(image: Image | Build | str, substitutes=None, timeout: float = 60.0) -> Ready:
        made = (
            Image(reference=image)
            if isinstance(image, str)
            else image
            if isinstance(image, Image)
            else Image(build=image)
        )
        ready = images.prepare(
            engine, made, Options(run=options.run, substitutes=substitutes or {}), timeout=timeout, log=tmp_path / "log"
        )
        built.add(ready.reference)
        return ready

    return go


def context(folder: Path, base: str, more: str, **files: str) -> Build:
    build = dockerfile(folder, base, more)
    for name, content in files.items():
        (folder / name).write_text(content)
    return build


def test_an_image_is_built_once_for_its_content(prepare, base, tmp_path, options):
    first = prepare(context(tmp_path / "a", base.tag, "COPY data /data\n", data=options.run))
    assert "COPY data" in first.log
    same = prepare(context(tmp_path / "b", base.tag, "COPY data /data\n", data=options.run))
    assert (same.id, same.log) == (first.id, "found in the cache")
    os.utime(tmp_path / "a/data", (1, 1))
    assert prepare(Build(tmp_path / "a")).reference == first.reference
    changes = {
        "data": lambda: (tmp_path / "a/data").write_text("2"),
        "mode": lambda: (tmp_path / "a/data").chmod(0o755),
        "link": lambda: (tmp_path / "a/link").symlink_to("data"),
        "folder": lambda: (tmp_path / "a/empty").mkdir(),
    }
    seen = {first.reference}
    for name, change in changes.items():
        change()
        seen.add(prepare(Build(tmp_path / "a")).reference)
        assert len(seen) == 2 + list(changes).index(name), name


def test_target_and_arguments_decide_what_is_built(prepare, base, tmp_path, engine):
    more = f"ARG WHO=nobody\nLABEL who=$WHO\nFROM {base.tag} AS last\nLABEL who=last\n"
    folder = context(tmp_path / "a", f"{base.tag} AS first", more).context
    labels = []
    for build in (
        Build(folder, target="first"),
        Build(folder, target="first", arguments=(("WHO", "me"),)),
        Build(folder),
    ):
        labels.append(engine.api.inspect_image(prepare(build).id)["Config"]["Labels"]["who"])
    assert labels == ["nobody", "me", "last"]


def test_a_prebuilt_image_has_the_digest_of_its_registry(prepare, base):
    ready = prepare(base.pinned)
    assert (ready.reference, ready.digest) == (base.pinned, base.pinned.partition("@")[2])
    assert ready.substitute == ""


def test_a_mapped_image_stands_in_and_the_record_has_both_names(prepare, base, run, tmp_path, options):
    ready = prepare(PINNED, {PINNED: base.tag})
    assert (ready.reference, ready.substitutes) == (PINNED, ((PINNED, base.tag),))
    mapped = Options(run=options.run, substitutes={"python:3.12-slim": base.tag})
    record = run(make_plan(tmp_path, PINNED), options=mapped)
    assert (record.reward, record.image, record.substitute) == (1.0, PINNED, f"{base.tag} for {PINNED}")
    record = run(make_plan(tmp_path, dockerfile(tmp_path / "a", PINNED)), options=mapped)
    assert (record.reward, record.substitute) == (1.0, f"{base.tag} for {PINNED}")


def test_a_separate_verifiers_image_is_in_the_record_too(base, run, tmp_path, options):
    mapped = Options(run=options.run, substitutes={"checker:1": base.tag})
    verifier = Container(Image("checker:1"), folders=("/logs/verifier",))
    step = make_step(tmp_path, where=Where.SEPARATE, verifier=verifier, artifacts=("/app",))
    record = run(make_plan(tmp_path, base.pinned, step), options=mapped)
    assert (record.reward, record.image, record.substitute) == (1.0, base.pinned, f"{base.tag} for checker:1")
    assert (record.verifier_image, record.image_digest) == ("checker:1", base.pinned.partition("@")[2])
    assert record.verifier_image_digest.startswith("sha256:")


def test_images_are_replaced_in_from_and_copy_and_behind_arguments(prepare, base, tmp_path):
    text = (
        "ARG B=python:3.12-slim\nFROM python AS python\nFROM ${B} AS built\n"
        f"COPY --from=python /etc/hostname /a\nCOPY --from={PINNED} /etc/hostname /b\nCOPY --from=0 /etc/hostname /c\n"
    )
    (tmp_path / "a").mkdir()
    (tmp_path / "a/Dockerfile").write_text(text)
    ready = prepare(Build(tmp_path / "a"), {"python:3.12-slim": base.tag, "python": base.tag})
    assert ready.substitutes == (("python", base.tag), ("python:3.12-slim", base.tag), (PINNED, base.tag))
    assert ready.substitute.count(f"{base.tag} for ") == 3
    assert (tmp_path / "a/Dockerfile").read_text() == text


@pytest.mark.parametrize(
    ("reference", "key", "serves"),
    [
        ("python:3.12@sha256:aa", "python:3.12@sha256:aa", True),
        ("docker.io/library/python:3.12@sha256:aa", "python:3.12", True),
        ("python", "docker.io/library/python:latest", True),
        ("python:3.12@sha256:aa", "python:3.12@sha256:bb", False),
        ("python:3.11", "python:3.12", False),
        ("ghcr.io/python:3.12", "python:3.12", False),
        ("localhost:5000/x", "localhost:5000/x:latest", True),
    ],
)
def test_which_key_serves_a_reference(reference, key, serves):
    assert (substitute(reference, {key: "local"}) == "local") is serves


def test_a_stand_in_that_is_not_here_is_said(prepare):
    with pytest.raises(Fault, match=r"`nowhere:1`, which `\[images\] substitutes` names for `python:3.12-slim@"):
        prepare(PINNED, {PINNED: "nowhere:1"})


def test_an_image_that_cannot_be_had_says_what_to_do(prepare, tmp_path):
    with pytest.raises(Fault, match=r"neither here nor can it be pulled .* map it to a local image under"):
        prepare("127.0.0.1:9/nothing:1")
    with pytest.raises(Fault, match=r"cannot be had here .* map it under `\[images\] substitutes`"):
        prepare(dockerfile(tmp_path / "a", "127.0.0.1:9/nothing:1"))


def test_a_build_that_fails_shows_its_end(prepare, base, tmp_path):
    with pytest.raises(Fault, match=r"(?s)the build failed.*echo broken >&2"):
        prepare(dockerfile(tmp_path / "a", base.tag, "RUN echo broken >&2; exit 3\n"))
    with pytest.raises(Fault, match="Dockerfile"):
        prepare(Build(tmp_path / "missing"))


def test_what_a_failed_build_said_is_kept_and_linked(run, base, tmp_path):
    broken = dockerfile(tmp_path / "a", base.tag, "RUN echo it was broken; exit 3\n")
    verifier = Container(Image(build=broken), folders=("/logs/verifier",))
    separate = make_step(tmp_path, where=Where.SEPARATE, verifier=verifier, artifacts=("/app",))
    for plan in (make_plan(tmp_path, broken), make_plan(tmp_path, base.tag, separate)):
        record = run(plan)
        (build,) = record.phases
        assert build.error.startswith("build: ")
        assert "it was broken" in (tmp_path / "trials" / record.id / build.output_file).read_text()


def test_a_build_out_of_time_is_stopped(prepare, base, tmp_path):
    began = time.monotonic()
    with pytest.raises(FaultTimeoutError, match="longer than 2 s"):
        prepare(dockerfile(tmp_path / "a", base.tag, f"RUN echo {began} && sleep 300\n"), timeout=2.0)
    assert time.monotonic() - began < 10


def test_a_here_document_builds_or_is_named_as_what_the_builder_lacks(prepare, base, tmp_path, engine):
    build = dockerfile(tmp_path / "a", base.tag, "RUN <<EOF\necho one > /one\nEOF\n")
    if int(engine.info["ServerVersion"].split(".")[0]) >= 23:
        assert prepare(build).reference.startswith("scenlint/")
    else:
        with pytest.raises(Fault, match=r"here-document \(line 3\), which this engine's builder .* Docker 23"):
            prepare(build)


def test_ignored_files_stay_out_of_the_image_also_with_a_replaced_dockerfile(prepare, base, tmp_path, engine):
    build = context(tmp_path / "a", PINNED, "COPY . /copied\nRUN test ! -e /copied/left-out\n", data="1")
    (tmp_path / "a/left-out").write_text("x")
    (tmp_path / "a/.dockerignore").write_text("left-out\n")
    assert prepare(build, {PINNED: base.tag}).id


def test_the_sdks_builder_serves_where_no_client_speaks_buildkit(base, tmp_path, engine, options, built):
    def build(folder: str, more: str, timeout: float = 60.0, **files: str) -> str:
        plan = context(tmp_path / folder, base.tag, more, **files)
        tag = f"scenlint/test-{options.run}"
        built.add(tag)
        watch = Watch("the build", timeout, None)
        return builder._classic(engine, plan, plan.context / "Dockerfile", tag, None, None, watch)

    assert "Step 4/" in build("a", "COPY data /data\nRUN grep 1 /data\n", data="1")
    with pytest.raises(Fault, match="the build failed"):
        build("b", "RUN exit 3\n")
    with pytest.raises(FaultTimeoutError, match="longer than 2 s"):
        build("t", f"RUN echo {tmp_path} && sleep 5\n", timeout=2.0)
    with pytest.raises(Fault, match="needs BuildKit"):
        build("c", "RUN --mount=type=cache,target=/x true\n")
