"""Installs are read from command lines as the package managers themselves would."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenlint.source import shell
from scenlint.source.text import Fragment, Source
from scenlint.task.installs import Install, Origin, arguments, read_installs
from scenlint.task.installs.files import read_requirements


def installs(line: str, **variables: str) -> list[Install]:
    script = shell.parse(Fragment.of(Source(Path("x.sh"), line.encode()), "shell"))
    return [i for command in script.deep() for i in read_installs(arguments(command, variables or {}))]


def pins(line: str, **variables: str) -> list[tuple[str, bool]]:
    return [(i.shown, i.pinned) for i in installs(line, **variables)]


@pytest.mark.parametrize(
    ("line", "pinned", "open_"),
    [
        ("pip install a==1.0 b", ["a==1.0"], ["b"]),
        (
            "pip3 install -q --no-cache-dir 'a[x]==1.0' 'b>=2' 'c==1.*' d~=1.2 e===3",
            ["a[x]==1.0", "e===3"],
            ["b>=2", "c==1.*", "d~=1.2"],
        ),
        ("python3 -m pip install --upgrade pip setuptools wheel", ["pip", "setuptools", "wheel"], []),
        ("sudo -E pip install a", [], ["a"]),
        ("pip install 'a==1; python_version < \"3.9\"'", ['a==1; python_version < "3.9"'], []),
        ("pip install a --index-url https://x.example/simple -t /opt/lib", [], ["a"]),
        ("pip install --require-hashes -r r.txt", ["r.txt"], []),
        ("pip install -c constraints.txt a", ["a"], []),
        ("pip install -e . ./b /c dist/d-1.0-py3-none-any.whl", ["./b", "/c", "dist/d-1.0-py3-none-any.whl", "."], []),
        ("pip freeze && pip list", [], []),
        ("uv pip install --system a==1 b", ["a==1"], ["b"]),
        ("uv add a 'b>=1'", [], ["a", "b>=1"]),
        ("uv --no-cache run --with a,b==1 --with c==2 t.py", ["b==1", "c==2"], ["a"]),
        ("uvx -p 3.13 --with pytest==8.4.1 -w x==1 pytest -q -w y", ["pytest==8.4.1", "x==1", "pytest"], []),
        ("uvx ruff@0.5.1 check", ["ruff==0.5.1"], []),
        ("uvx ruff@latest", [], ["ruff@latest"]),
        ("uvx --from a==1 tool", ["a==1"], []),
        ("pipx install a && pipx run --spec b==1 b", ["b==1"], ["a"]),
        (
            "npm install -g a@1.2.3 b @x/c@1.0.0 d@^1 e@latest f@1",
            ["a@1.2.3", "@x/c@1.0.0"],
            ["b", "d@^1", "e@latest", "f@1"],
        ),
        ("npm ci", ["a lock file"], []),
        ("npm run build && npm test", [], []),
        ("yarn global add a@1.0.0", ["a@1.0.0"], []),
        ("pnpm add -D a", [], ["a"]),
        ("gem install a -v 1.2.3", ["a"], []),
        ("gem install a:1.2.3 b", ["a:1.2.3"], ["b"]),
        ("cargo install a --version 1.2.3 --locked", ["a"], []),
        ("cargo install a@1.2.3 b", ["a@1.2.3"], ["b"]),
        ("cargo install --git https://x.example/a --rev 0a1b2c3d", ["https://x.example/a"], []),
        ("cargo install --git https://x.example/a", [], ["https://x.example/a"]),
        ("cargo install --path . && cargo build", ["."], []),
        (
            "go install x.example/a@v1.2.3 && go install x.example/b@latest",
            ["x.example/a@v1.2.3"],
            ["x.example/b@latest"],
        ),
        ("go get ./... && go install ./cmd/a", [], []),
        ("apt-get install -y -t bookworm-backports a=1.2-3 b ./c.deb", ["a=1.2-3", "./c.deb"], ["b"]),
        ("apk add --no-cache --virtual .build a b=1.2-r0", ["b=1.2-r0"], ["a"]),
        ("dnf install -y a-1.2-3.fc40 b", ["a-1.2-3.fc40"], ["b"]),
        ("apt-get update", [], []),
        ("conda install -y -c forge a=1.2.3 b", ["a=1.2.3"], ["b"]),
        ("echo pip install a", [], []),
        ("# pip install a", [], []),
    ],
)
def test_what_is_installed_and_pinned(line: str, pinned: list[str], open_: list[str]) -> None:
    found = pins(line)
    assert [name for name, is_pinned in found if is_pinned] == pinned
    assert [name for name, is_pinned in found if not is_pinned] == open_


@pytest.mark.parametrize(
    ("ref", "pinned"),
    [
        ("@0123456789abcdef0123456789abcdef01234567", True),
        ("@v1.2.3", True),
        ("@main", False),
        ("@origin/main", False),
        ("", False),
        ("@$REF", False),
        ("@0a1b2c3#egg=tool", True),
    ],
)
def test_repository_is_pinned_by_a_commit_or_a_version_tag(ref: str, pinned: bool) -> None:
    (found,) = installs(f"pip install git+https://user@x.example/team/tool.git{ref}")
    assert (found.origin, found.pinned) == (Origin.VCS, pinned)
    (named,) = installs(f"pip install 'tool @ git+ssh://git@x.example/team/tool.git{ref.replace('$REF', 'main')}'")
    assert named.pinned is pinned
    assert named.name == "tool"


def test_variables_of_the_script_and_of_the_image_are_filled_in() -> None:
    assert pins("V=1.0; pip install a==$V") == [("a==1.0", True)]
    assert pins("pip install a==$V", V="2.0") == [("a==2.0", True)]
    assert pins("L='a b==1'; pip install $L") == [("a", False), ("b==1", True)]


def test_version_in_an_unknown_variable_may_be_exact() -> None:
    assert pins("pip install a==$V $MORE") == [("a==…", True), ("…", True)]


def test_commands_inside_other_commands_are_read() -> None:
    line = "bash -c 'pip install a' && if true; then pip install b; fi; f() { pip install c; }; x=$(pip install d)"
    assert [name for name, _ in pins(line)] == ["a", "b", "c", "d"]


def test_redirect_that_was_meant_as_a_version_is_seen_as_the_shell_does() -> None:
    assert pins("pip install a>=3.2.0") == [("a", False)]


def test_places_are_those_of_the_arguments() -> None:
    found = installs("pip install \\\n  a==1 \\\n  'b>=2'\n")
    assert [(i.span.line, i.span.text) for i in found] == [(2, "a==1"), (3, "'b>=2'")]


def test_what_needs_no_network() -> None:
    def fetches(line: str) -> list[bool]:
        return [i.fetches for i in installs(line)]

    assert fetches("pip install --no-index --find-links /wheels a") == [False]
    assert fetches("pip install -e . /app/dist/a-1.0-py3-none-any.whl") == [False, False]
    assert fetches("pip install --index-url http://localhost:8080/simple a") == [False]
    assert fetches("pip install --index-url https://x.example.com/simple a") == [True]
    assert fetches("pip install git+http://server/a.git") == [False]
    assert fetches("uvx --offline ruff") == [False]
    assert fetches("pip install a") == [True]


def test_requirements_file_line_by_line() -> None:
    text = (
        "# tools\n--index-url https://x.example/simple\na==1.0\nb  # newest\nc==2 \\\n    --hash=sha256:00\n"
        "-e git+https://x.example/d@main\n-r more.txt\ne>=1; python_version < '3.9'\n"
    )
    found = list(read_requirements(Fragment.of(Source(Path("requirements.txt"), text.encode()), "text")))
    assert [(i.package, i.pinned, i.span.line) for i in found] == [
        ("a==1.0", True, 3),
        ("b", False, 4),
        ("git+https://x.example/d@main", False, 7),
        ("e>=1; python_version < '3.9'", False, 9),
    ]
    assert found[1].span.text == "b"


def test_requirements_file_that_demands_hashes_is_pinned() -> None:
    text = "--require-hashes\na\n"
    assert not list(read_requirements(Fragment.of(Source(Path("r.txt"), text.encode()), "text")))
