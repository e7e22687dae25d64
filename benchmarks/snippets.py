"""Odd and broken pieces of text, code and data, which mutations.py puts into tasks."""
# ruff: noqa: E501 - tables

from __future__ import annotations

from typing import Any

# What is put into any text.
TOKENS = [
    *'"\'\\\n\r[](){}:=#\t|>&*%@`~,;/', "\0", "\f", "\x1b[31m", "\ufeff", "\u200b", "\u2028", "é", "🎉", "\udcff",
    '"""', "'''", "\\u12", r"\ud800", "---\n", "<<EOF\n", "$(", "${", "\r\n", "null", "-1", "1e999", "nan", "9" * 400,
    "<!--", "```", "FROM ", "RUN ", "ARG X=", "lambda: ", "yield ", "(" * 300, "a." * 400, "-" * 300, "not " * 300,
    "1+" * 500, "//", "..", "**", "&a ", "*a ", "‮", "\u0301" * 50, "x" * 5000, "[PASS] (", "SCORE: ", "scenlint: ignore[",
]  # fmt: skip

# Values where others are expected.
ODD: list[Any] = [
    None, True, False, 0, -1, 1, 1e308, 2**63, 10**400, "", " ", "\n", "x", "../..", "/", "//", "~", "/etc/passwd", "\0",
    "a" * 3000, "${X}", "$(x)", "{{x}}", "%s", "é🎉", "\ud800", "1.0", "true", "null", [], {}, [[]], [None], [{}], {"": ""},
    {"a": {"a": {"a": []}}}, list(range(300)), {str(n): n for n in range(200)}, ["a", 1, None, {}], "2026-13-45", "5s",
    "http://[::1", "file:///x", "ssh://u:p@h:99999/", "*", "**/*", "[", "(?P<", "(a+)+$", "image@sha256:xyz", ":latest", "a:b:c",
]  # fmt: skip

PYTHON = [
    "async def f():\n    async with a as b, c: pass\n    async for x in y: yield await x",
    "match x:\n    case {'a': [1, *r], **k} if r: pass\n    case C(a=1) | None: pass\n    case _: pass",
    "try:\n    assert x\nexcept* (A, B) as e:\n    raise\nelse:\n    pass\nfinally:\n    pass",
    "try:\n    pass\nexcept:\n    pass", "while True:\n    try:\n        break\n    finally:\n        continue",
    "def f(a, /, b=lambda *c, d=1, **e: (yield), *, g: 'h' = ...) -> f'{a!r:>{b}}': return f(*a, **b)",
    "f = f", "f, (g, *h) = *f, g = h", "x: int", "x = y = z = x[y][z]", "global x", "nonlocal y", "del x[0], y.z, (a, b)",
    "import a.b.c as d, e", "from . import *", "from ... import x", "__import__('os').system('x')", "exec('1'); eval(input())",
    "assert (x, 'y')", "assert x if y else z, w", "assert all(assert_ for assert_ in [])", "assert open('\\0').read()",
    "open(*a, **k)", "open(open(open(x)))", "open(f'/app/{x}/{y!r}').read().strip() == {1: 2}.get", "sys.exit(*a)",
    "subprocess.run(['bash', '-c', f'cat {x} | grep {y}'], **k)", "subprocess.run(cmd % x, shell=True, timeout=None)",
    "os.environ['X'] = os.environ.get('X', os.environ)['Y']", "json.loads(json.dumps(json))[0]['a'].b()",
    "print(f'[PASS] ({w}pt) {n}')", "print('SCORE: %s' % (x,), file=sys.stderr)", "print('SCORE:', *x, sep='')",
    "requests.get('http://u:p@h:1/' + x, timeout=(1, None))", "re.match('(' * 50 + ')' * 50, x)", "re.compile(r'[')",
    "x = [i async for i in y if (z := i)]", "lambda: (lambda: (lambda: x))()", "@a.b[0](c)\n@(yield)\nclass C(D, metaclass=E, *f): x = C",
    "class test_x: pass", "class TestX:\n    def test_a(self): return test_a\n    test_b = test_a",
    "def test_r(): return test_r()", "def test_x(test_x=test_x): assert test_x", "if 0:\n    def test_y(): assert 1",
    "pytest.mark.parametrize('a,b', [(1,), *x, **y])(test_x)", "@pytest.fixture\ndef x(x): yield x",
    "with open('a') as f, open(f) as f: assert f == f.read() is not None in (x,) < 3", "1 < 2 < 3 == 4 != 5", "-~+-x ** -y",
    "'%d' % 'x' + b'y'", "'\\N{BULLET}' '\\x41' r'\\q' b'\\xff' f'{{}}'", "0x1for x in y", "1if 1else 2", "...", "x[::, ...]",
    "random.random(); datetime.now() - time.time()", "a = a if a else a if a else a", "for i in range(10**9): break",
    "for x.y[0] in z: pass\nelse: x", "# scenlint: ignore[no-such, tautology] because", "# scenlint: ignore-file", "#!",
    "# -*- coding: no-such -*-", "# -*- coding: utf-16 -*-", "if __name__ == '__main__': main(main=main)", "type X[T] = X[T]",
    "def f[T: (int, str), *U, **V](): pass", "f'{x!r:{y:{z}}}' f\"{'a' if b else f'{c}'}\"", "return 1", "yield", "await x", "break",
]  # fmt: skip

SHELL = [
    "cat <<EOF", "cat <<-'E O F' <<B\n\tx\n\tE O F\ny\nB", "x=$(cat <<A\n$(cat <<B\nb\nB\n)\nA\n)", "case $x in a) ;; b|c) echo;;& *) esac",
    "f() { f; }; f", "f() ( f | f & ); f", "eval \"$(echo eval \\\"\\$(x)\\\")\"", "trap 'trap - EXIT; exit $?' EXIT INT", "exec 3>&1 4<&- >out 2>&1 <in",
    "set -euo pipefail", "set +e; set -o", "[[ $a =~ ^(b|c)$ && -f d || ! e ]]", "((i++ < 10 ** 2 ? a : b))", "for ((;;)); do break 9; done",
    "for f in *.txt \"${a[@]}\" {1..999999}; do :; done", "while read -r a b; do echo; done < <(x) | y", "until false; do continue; done",
    "a=(1 [5]=2 $(x) \"${b[@]/#/x}\")", "${x:-${y:=${z:?w}}}", "${!x*} ${#x} ${x%%.*} ${x//a/b} ${x^^} ${x@Q}", "`echo \\`echo\\``", "echo $'\\x41\\u00e9' $\"x\"",
    "exit", "exit $((1/0))", "return 300", "echo 1 > /logs/verifier/reward.txt", "echo $? >> /logs/verifier/reward.txt || true", "pytest $PYTEST_ARGS; exit 0",
    "pytest -rA \"$@\" | tee out || true; echo ${PIPESTATUS[0]}", "pip install $(cat r.txt) 'a>=1,<2' git+https://x/y@z#egg=q -r <(x)", "apt-get install -y $P a=1 b",
    "curl -sSL https://x/y.sh | sudo -E bash -s -- -a", "uvx --with a==1 -p 3.13 pytest", "uv run --with-requirements r.txt x", "npm i -g a@latest b@^1 --save", "source ./$x; . <(y)",
    "cd \"$(dirname \"$0\")/..\" && pwd", "python - <<'PY'\nimport os\nprint(os)\nPY", "python -c 'import x; x(\"y\")' \"$z\"", "jq '.a[] | select(.b==\"c\")' f.json", "awk 'BEGIN{while(1)}'",
    "a | b |& c && d || e & f; ! g", "time -p coproc X { y; }", "select x in y; do z; done", "function a-b.c() { local -n r=$1; }", "if a; then b; elif c; then d; fi", "if", "fi", "}", "done", ")", "\\", "\"", "'", "$((", "<<<", "#!/usr/bin/env -S bash -eu",
]  # fmt: skip

DOCKERFILE = [
    "FROM ${A:-${B:-x}} AS a", "FROM a AS a", "FROM scratch", "FROM --platform=$BUILDPLATFORM x@sha256:0 as B", "FROM", "ARG A=$A", "ARG A=${B}\nARG B=${A}", "ARG", "ENV A", "ENV A=1 B=\"2 $A\" C='3", "ENV PATH /x:$PATH",
    "COPY --from=a --from=b --chown=x:y . /", "COPY --from=9 a b", "COPY [\"a b\", \"c\"]", "COPY [\"a\",", "COPY <<A <<B /x\na\nA\nb\nB", "COPY * ../../..", "COPY tests/ solution/ /", "ADD https://x/y.tar.gz /", "ADD --checksum=sha256:0 git@x:y.git#z:w /", "COPY",
    "RUN <<EOF\napt-get install x\nEOF", "RUN <<'A' bash <<B\nx\nA\ny\nB", "RUN <<EOF", "RUN --mount=type=cache,target=/x --mount=type=secret,id=y --network=none x", "RUN [\"a\", \"b\"", "RUN a && \\\n# c\n\n  b \\", "RUN \\\n\\\n\\\n", "RUN echo \\", "RUN",
    "# escape=`\n# syntax=docker/dockerfile:1", "# syntax=x\n# syntax=y", "ONBUILD ONBUILD RUN x", "ONBUILD FROM y", "HEALTHCHECK NONE", "HEALTHCHECK --interval=x CMD", "SHELL [\"powershell\", \"-c\"]", "SHELL x", "USER $U:$G", "USER", "WORKDIR ../..", "WORKDIR $X", "WORKDIR",
    "VOLUME [\"/a\", \"/app\"]", "VOLUME", "EXPOSE 80/tcp 99999 $P", "ENTRYPOINT a b", "CMD [\"a\"] b", "STOPSIGNAL 9", "LABEL a=b \"c d\"=e f", "MAINTAINER x", "NONSENSE x", "run apt-get update", "RUN pip install -r requirements.txt a b==1 'c>=2' -e .", "RUN echo ghp_x > /root/.token",
]  # fmt: skip

MARKDOWN = [
    "# ", "####### x", "x\n===", "```", "````python\n```\n", "~~~ a b=c", "<!-- scenlint: ignore[x] y -->", "<!-- ", "<details><summary>", "> > > > x", "- " * 40 + "x", "1. a\n   1. b\n      - c\n9999999999. d", "- [ ] a\n- [x] b",
    "| a | b |\n|---|\n| c |", "|" * 300, "[a](b \"c", "![a][b]\n\n[b]: <c d> 'e", "[^1]: x", "\\" * 99, "*" * 99 + "x", "`" * 99, "&#0; &notanentity; &copy;", "<script>alert(1)</script>", "$$x$$ \\(y\\)", "x  \ny\\\nz", "\t\tcode", "---\na: b\n---", "+++\na = 1\n+++",
    "The file `/app/../x y` must hold exactly 3.14159 ± 1e-3 rows, sorted, no more than 100 MB, within 5 s.", "## Success criteria\n\n1. a\n2. a\n3.\n", "## Work list\n\n- \n-\n1) x", "Do **not** look at http://x/y?z=%00#w.", "Write `x` to `/x`, `y` to `/y`" * 50,
]  # fmt: skip

DATA = [
    "a: &a [*a]", "<<: *x", "? [a, b]\n: {c: d}", "!!python/object:os.system x", "!custom {a: 1}", "a: |2-\n   x", "a: >+\n\n\n", "- - - - x", "{a: 1, a: 2}", "%YAML 9.9\n---\na", "a: b: c", "\ta: b", "a: 'b", "a: 2026-02-30", "a: 0o17", "a: 1_000", "a: .inf", "a: ~", "[[a]]", "[a.b]\n[a]\nb = 1", "a.b = 1\na = 2", "a = 1979-05-27T07:32:00Z", "a = '''\nx", "a = [1, 'b', {c = 1}]", "a = inf", "\"\" = 1",
    "[[verifier.collect]]\ncommand = [[\"x\"]]\nservice = 1", "[environment]\n[environment]", "services: {main: {build: [x], volumes: [{type: bind}], ports: [[]]}}", "{\"a\": 1,}", "{\"a\": 01}", "{'a': 1}", "[1 2]", "{\"a\": NaN, \"b\": -Infinity}", "// x", "\ufeff{}", "{\"__proto__\": {}}",
]  # fmt: skip

BYTES = [
    b"",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x7fELF\x02\x01\x01" + b"\0" * 100,
    b"PK\x03\x04" + b"\xff" * 64,
    b"\x1f\x8b\x08",
    bytes(range(256)),
    b"\xff" * 999,
    b"\r" * 999,
    b"\n" * 99_999,
    b"{" * 99_999,
    b"[" * 99_999,
]

SNIPPETS = {
    "python": PYTHON,
    "shell": SHELL,
    "dockerfile": DOCKERFILE,
    "markdown": MARKDOWN,
    "json": DATA,
    "yaml": DATA,
    "toml": DATA,
}
