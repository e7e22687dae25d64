"""The texts that a Python expression may be, each with the place where it is written; none where that is unsure."""

from __future__ import annotations

import ast
from itertools import islice, product

from scenlint.source.python import PyModule, walk

_MOST = 200  # texts that one expression may be

Text = tuple[str, ast.expr]


def number_of(value: object) -> float | None:
    """A number as a float; None for a truth value, for what is no number, and for what is too large to be a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def literals(module: PyModule) -> Literals:
    """What is known of a module's texts; worked out once."""
    return module.fragment.memo("literals", lambda: Literals(module))


class Literals:
    """Looks through names, loops over literal lists, f-strings and concatenations."""

    def __init__(self, module: PyModule) -> None:
        self.module = module
        self.assigned: dict[str, list[ast.expr]] = {}  # whatever a name is set to, anywhere in the module
        for node in module.nodes:
            name = target(node)
            if name is not None and isinstance(value := getattr(node, "value", None), ast.expr):
                self.assigned.setdefault(name, []).append(value)

    def texts(self, node: ast.expr, depth: int = 5) -> list[Text] | None:
        """The texts that an expression may be, each with the place it is written at; None where they are not known."""
        if depth == 0:
            return None
        if isinstance(node, ast.Constant):
            return [(node.value, node)] if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self._of_name(node, depth)
        if isinstance(node, ast.JoinedStr):
            parts = [v.value if isinstance(v, ast.FormattedValue) else v for v in node.values]
            return self._joined(node, parts, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._joined(node, [node.left, node.right], depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, depth)
        return None

    def _joined(self, node: ast.expr, parts: list[ast.expr], depth: int) -> list[Text] | None:
        found = [self.texts(part, depth - 1) for part in parts]
        if any(f is None for f in found):
            return None
        choices = [[text for text, _ in f or ()] for f in found]
        return [("".join(choice), node) for choice in islice(product(*choices), _MOST)]

    def _method(self, node: ast.Call, func: ast.Attribute, depth: int) -> list[Text] | None:
        base = self.texts(func.value, depth - 1)
        values = [a.value for a in node.args if isinstance(a, ast.Constant)]
        if base is None or len(values) != len(node.args) or func.attr not in ("upper", "lower", "strip", "replace"):
            return None
        try:
            return [(getattr(text, func.attr)(*values), place) for text, place in base]
        except TypeError:
            return None

    def _of_name(self, node: ast.Name, depth: int) -> list[Text] | None:
        loops = self.loops(node, node.id)
        if loops:
            target, iterated = loops[0]
            elements = self.elements(iterated, depth - 1)
            picked = [_pick(target, element, node.id) for element in elements or ()]
            sources = [p for p in picked if p is not None]
            if elements is None or len(sources) != len(picked):
                return None
        else:
            sources = self.assigned.get(node.id, [])
        found = [self.texts(source, depth - 1) for source in sources]
        if not found or any(f is None for f in found):
            return None
        return [pair for f in found for pair in f or ()][:_MOST]

    def loops(self, node: ast.expr, name: str) -> list[tuple[ast.expr, ast.expr]]:
        """The loops around a place that bind a name: (target, what is iterated)."""
        out = []
        for up in self.module.parents(node):
            heads: list[tuple[ast.expr, ast.expr]] = []
            if isinstance(up, ast.For):
                heads = [(up.target, up.iter)]
            elif isinstance(up, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                heads = [(g.target, g.iter) for g in up.generators]
            out += [h for h in heads if any(isinstance(n, ast.Name) and n.id == name for n in walk(h[0]))]
        return out

    def elements(self, node: ast.expr, depth: int) -> list[ast.expr] | None:
        if depth == 0:
            return None
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return node.elts
        if isinstance(node, ast.Name):
            found = [self.elements(v, depth - 1) for v in self.assigned.get(node.id, [])]
            return None if not found or any(f is None for f in found) else [e for f in found for e in f or ()]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            table = node.func.value
            if isinstance(table, ast.Name) and len(self.assigned.get(table.id, [])) == 1:
                table = self.assigned[table.id][0]
            if isinstance(table, ast.Dict) and all(table.keys):
                pairs = [(k, v) for k, v in zip(table.keys, table.values, strict=True) if k is not None]
                parts = {"keys": [k for k, _ in pairs], "values": [v for _, v in pairs]}
                if node.func.attr == "items":
                    return [ast.copy_location(ast.Tuple([k, v], ast.Load()), k) for k, v in pairs]
                return parts.get(node.func.attr)
        if isinstance(node, ast.Dict) and all(node.keys):
            return [k for k in node.keys if k is not None]
        return None


def _pick(target: ast.expr, element: ast.expr, name: str) -> ast.expr | None:
    if isinstance(target, ast.Name):
        return element
    if not (isinstance(target, ast.Tuple) and isinstance(element, ast.Tuple | ast.List)):
        return None
    pairs = zip(target.elts, element.elts, strict=False)
    return next((e for t, e in pairs if isinstance(t, ast.Name) and t.id == name), None)


def target(node: ast.AST) -> str | None:
    """The one name that an assignment sets."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        targets = [node.target]
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None
