"""Changes the project's own configuration so that the commands by which it is checked do nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground

_TARGETS = ("all", "test", "tests", "check", "lint", "build", "verify", "fmt", "typecheck", "ci", "coverage")
_PACKAGE = '{"name": "x", "version": "1.0.0", "scripts": {' + ", ".join(f'"{t}": "exit 0"' for t in _TARGETS) + "}}\n"
_MAKE = "".join(f".PHONY: {t}\n{t}:\n\t@exit 0\n" for t in _TARGETS)
_RULES = {
    "package.json": _PACKAGE,
    "Makefile": _MAKE,
    ".eslintrc.json": '{"root": true, "ignorePatterns": ["**/*"], "rules": {}}\n',
    "eslint.config.js": 'module.exports = [{ ignores: ["**/*"] }];\n',
    "jest.config.js": 'module.exports = { testMatch: ["<rootDir>/none/**"], passWithNoTests: true };\n',
    "tox.ini": "[testenv]\ncommands = true\nallowlist_externals = true\nskip_install = true\n",
    ".flake8": "[flake8]\nexclude = *\n",
    "ruff.toml": 'exclude = ["*"]\n',
    "mypy.ini": "[mypy]\nignore_errors = True\n",
}
_RUNS = ("npm ", "yarn ", "pnpm ", "make", "tox", "eslint", "jest", "vitest", "flake8", "ruff", "mypy")


@probe("project-config", TAMPERED)
def project_config(ground: Ground) -> Iterator[Attack]:
    text = ground.verifier_text + " ".join(" ".join(c.command.argv) for c in ground.step.verify.checks)
    there = any(posixpath.basename(path) in _RULES for path in ground.inputs)
    if ground.deepgym or not ground.in_files or not (there or any(word in text for word in _RUNS)):
        return
    script = 'for d in "$PWD" "$PWD"/*/; do\n  d="${d%/}"\n  [ -d "$d" ] || continue\n'
    for name, content in _RULES.items():
        always = name in ("package.json", "Makefile")
        line = ground.fill(content, ("@",)).replace("put @", f'put "$d/{name}"')
        script += line if always else f'  [ -e "$d/package.json" ] || [ -e "$d/{name}" ] && {line}'
    yield ground.attack(
        script + "done\n", "changed the project's configuration so that its lint, test and build commands do nothing"
    )
