"""Plants modules with names of the standard library where the verifier's Python looks first."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from scenlint.dynamic.probes.attack import Attack
from scenlint.dynamic.probes.base import TAMPERED, probe
from scenlint.dynamic.probes.ground import Ground
from scenlint.dynamic.probes.payloads import ends_the_judge

# What an interpreter has loaded before it looks into the working folder.
_LOADED = {
    "sys",
    "os",
    "io",
    "abc",
    "codecs",
    "site",
    "stat",
    "posixpath",
    "builtins",
    "encodings",
    "time",
    "_io",
    "genericpath",
}


@probe("shadow-modules", TAMPERED)
def shadow_modules(ground: Ground) -> Iterator[Attack]:
    modules = sorted(_imported(ground) & sys.stdlib_module_names - _LOADED)
    if ground.deepgym or not modules or not (ground.shared or ground.local):
        return
    payload = ends_the_judge(ground)
    tests = ground.verifier_folder
    folders = f'"$PWD" {tests} /' if not ground.local else '"$PWD"'
    script = f"for d in {folders}; do\n"
    for name in modules[:12]:
        script += ground.fill(payload, ("@",)).replace("put @", f'put "${{d%/}}/{name}.py"')
    shown = ", ".join(f"{m}.py" for m in modules[:3])
    yield ground.attack(script + "done\n", f"planted {shown} … in the working folder and among the tests")


def _imported(ground: Ground) -> set[str]:
    """Modules that the verifier imports, and those that pytest does."""
    found = {"json", "argparse", "re"}
    for fragment in ground.task.verifier.files if ground.task.verifier else ():
        if fragment.language != "python":
            continue
        try:
            tree = ast.parse(fragment.text)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found
