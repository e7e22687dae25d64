"""Commands that only run where a tool is missing: `command -v uv || curl …`, `if ! which uv; then …`."""

from __future__ import annotations

from scenlint.source.shell import AndOr, Command, If, Node


def guarded_by(command: Command) -> str | None:
    """The tool without which the command runs; None where it runs in any case."""
    node: Node = command
    for above in command.ancestors():
        if isinstance(above, AndOr):
            at = next((n for n, item in enumerate(above.items) if item is node), 0)
            if at and above.operators[at - 1] == "||":
                tool = _asked(above.items[at - 1])
                if tool:
                    return tool
        elif isinstance(above, If):
            for condition, body in above.branches:
                if body is node and len(condition.items) == 1 and condition.items[0].negated:
                    tool = _asked(condition.items[0])
                    if tool:
                        return tool
        node = above
    return None


def _asked(node: Node) -> str | None:
    """The tool whose presence a command asks for."""
    if not isinstance(node, Command) or not node.argv:
        return None
    words = [w.text or "" for w in node.argv]
    if words[0] in ("which", "type", "hash") or words[:2] in (["command", "-v"], ["command", "-V"]):
        return words[-1] or None
    return words[0] if "--version" in words[1:2] else None
