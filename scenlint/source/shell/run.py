"""What a command really runs: wrappers and launchers looked through, its script file, its inline code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scenlint.source.regex import regex
from scenlint.source.shell.model import Command
from scenlint.source.shell.words import Word, unquoted
from scenlint.source.text import Fragment

# Wrapper -> (options that take a value, words before the command).
_WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -C -D -h -p -r -R -t -T -U --user --group --chdir", 0),
    "doas": ("-u -C", 0),
    "env": ("-u -C -S --unset --chdir", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
    "gtimeout": ("-s -k --signal --kill-after", 1),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p", 0),
    "time": ("-f -o", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "stdbuf": ("-i -o -e", 0),
    "unbuffer": ("", 0),
    "exec": ("-a", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "gosu": ("", 1),
    "su-exec": ("", 1),
    "runuser": ("-u -g -G --user --group", 0),
    "setpriv": ("--reuid --regid --groups --bounding-set --inh-caps --ambient-caps", 0),
    "chroot": ("", 1),
    "flock": ("-w -E --timeout", 1),
    "taskset": ("", 1),
    "xvfb-run": ("-s -n -e -f -p -w --server-args --server-num", 0),
}
# Launcher (with its sub-command) -> options that take a value.
_UV = (
    "-p --python -w --with --with-requirements --with-editable --from --directory --project --env-file --extra --group "
    "--index --index-url --default-index --extra-index-url --package -c --constraint --constraints --exclude-newer "
    "--cache-dir --find-links --refresh-package --link-mode --index-strategy --torch-backend --resolution --prerelease "
    "--python-platform"
)
_LAUNCHERS: dict[str, str] = {
    "uvx": _UV,
    "uv run": _UV,
    "uv tool run": _UV,
    "pipx run": "--spec --python",
    "poetry run": "",
    "pdm run": "-p --project",
    "pipenv run": "",
    "hatch run": "",
    "conda run": "-n --name -p --prefix --cwd",
    "micromamba run": "-n --name -p --prefix --cwd",
    "npx": "-p --package",
    "bunx": "",
    "pnpm exec": "",
    "yarn run": "",
    "bundle exec": "",
}
_INTERPRETERS = regex(
    r"(?:(?:ba|da|z|k|a)?sh|source|\.|python[\d.]*|pypy3?|node|deno|bun|ruby|perl|php|Rscript|lua[\d.]*|julia)"
)
_LANGUAGES = (
    (regex(r"(?:ba|da|z|k|a)?sh|eval|trap|su"), "shell"),
    (regex(r"python[\d.]*|pypy3?"), "python"),
    (regex(r"node|deno|bun"), "javascript"),
    (regex(r"ruby"), "ruby"),
    (regex(r"perl"), "perl"),
    (regex(r"Rscript"), "r"),
    (regex(r"psql|sqlite3|mysql|mariadb"), "sql"),
)
# Options with a value that stand before an interpreter's script.
_VALUED = {"-W", "-X", "-o", "--rcfile", "-r", "--require"}


def language_of(program: str | None) -> str | None:
    """The language in which this program reads code from -c or from its standard input."""
    return next((lang for pattern, lang in _LANGUAGES if program and pattern.fullmatch(program)), None)


def _base(word: Word) -> str:
    return (word.text or "").rpartition("/")[2]


def _skip(words: Sequence[Word], at: int, valued: str) -> int:
    """The index of the first word from `at` that is neither an option nor an option's value."""
    takes = set(valued.split())
    while at < len(words):
        text = words[at].pattern
        if text == "--":
            return at + 1
        if not text.startswith("-") or text == "-":
            return at
        at += 2 if text in takes else 1
    return at


def unwrap(argv: Sequence[Word]) -> list[Word]:
    words = list(argv)
    while words and _base(words[0]) in _WRAPPERS:
        name = _base(words[0])
        if name == "command" and len(words) > 1 and words[1].pattern in ("-v", "-V", "-pv"):
            break  # asks where a command is, runs none
        valued, before = _WRAPPERS[name]
        at = _skip(words, 1, valued)
        while name in ("env", "sudo", "doas") and at < len(words) and re.match(r"\w+=", words[at].raw):
            at += 1
        at += before
        if at >= len(words):
            break
        words = words[at:]
    return words


def unlaunch(words: Sequence[Word]) -> list[Word]:
    words = list(words)
    for _ in range(4):  # `uv run coverage run -m pytest` is the longest chain seen
        if not words:
            break
        head = [_base(words[0]), *(w.pattern for w in words[1:3])]
        launcher = next((" ".join(head[:n]) for n in (3, 2, 1) if " ".join(head[:n]) in _LAUNCHERS), None)
        if launcher is not None:
            at = _skip(words, len(launcher.split()), _LAUNCHERS[launcher])
        elif re.fullmatch(r"python[\d.]*|pypy3?|coverage", head[0]):
            at = next((n + 1 for n, w in enumerate(words) if re.fullmatch(r"-[A-Za-z]*m", w.pattern)), len(words))
            first = _skip(words, 2 if head[0] == "coverage" else 1, "-W -X -m --source --rcfile")
            if first < at - 1:
                break  # the -m belongs to a script
        else:
            break
        if at >= len(words):
            break
        words = unwrap(words[at:])
    return words


def script_word(words: Sequence[Word]) -> Word | None:
    if not words:
        return None
    head = _base(words[0])
    if head in ("uv", "uvx") and (inner := unlaunch(words)) != list(words):
        return script_word(inner)
    if not _INTERPRETERS.fullmatch(head):
        path = words[0].pattern
        return words[0] if "/" in path or re.search(r"\.(sh|py|js|rb|pl)$", path) else None
    code = (
        r"-[a-zA-Z]*[cs]"
        if language_of(head) == "shell"
        else r"-[a-zA-Z]*[cm]"
        if head.startswith("py")
        else r"-[ep]|--eval|--print"
    )
    at = 1
    while at < len(words):
        text = words[at].pattern
        if text == "--" or (text == "run" and head in ("deno", "bun")):
            at += 1
        elif not text.startswith("-"):
            return words[at]
        elif text == "-" or re.fullmatch(code, text):
            return None
        else:
            at += 2 if text in _VALUED else 1
    return None


def inline(command: Command) -> Fragment | None:
    words = command.words
    program = command.program
    language = language_of(program)
    if program is None or language is None or len(words) < 2:
        return None
    if program in ("trap", "eval"):
        code = words[1]
        if code.pattern in ("-", "", "-p", "-l") or (program == "eval" and len(words) != 2):
            return None
    else:
        flag = r"-[a-zA-Z]*[ce]|--command|--eval|--print" if language not in ("python", "shell") else r"-[a-zA-Z]*c"
        at = next((n for n, w in enumerate(words[1:], 1) if re.fullmatch(flag, w.pattern)), None)
        # The code follows its flag; an argument in between means that the flag is a script's own.
        if at is None or at + 1 >= len(words) or any(not w.is_option for w in words[1:at] if program != "su"):
            return None
        code = words[at + 1]
    text, pieces = unquoted(command.fragment.text, code.start, code.start + len(code.raw))
    return command.fragment.derive(text, language, pieces)
