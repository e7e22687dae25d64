"""The server itself: which files are open, when their tasks are linted, and what is shown of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

import scenlint
from scenlint.config import FILE_NAME
from scenlint.lint.pages import page_of
from scenlint.lint.registry import load_rules
from scenlint.lsp.judge import Judged, Notice, Offer, home_of, judge
from scenlint.lsp.worker import LostError, Worker

DELAY = 0.3  # seconds without a further change after which a task is linted
FIX_ALL = "source.fixAll.scenlint"
_CONFIGURATION = (FILE_NAME, "pyproject.toml", "scenlint.lock")


class Server(LanguageServer):
    """One editor's server. A task's folder is its home; all tasks of a home are linted together."""

    def __init__(self) -> None:
        # Whole texts rather than changes: pygls counts lines as Python does, which ends them at more characters.
        super().__init__("scenlint", scenlint.__version__, types.TextDocumentSyncKind.Full)
        self.worker = Worker()
        self.homes: dict[Path, Path] = {}  # of the open files that belong to a task
        self.judged: dict[Path, Judged] = {}
        self._timers: dict[Path, asyncio.TimerHandle] = {}
        self._running: dict[Path, asyncio.Task[None]] = {}
        self._again: set[Path] = set()
        self._told: set[str] = set()
        self._ending = False

    # Files come and go

    async def opened(self, uri: str) -> None:
        """A file was opened or saved: find its task, and lint it at once."""
        path = path_of(uri)
        if path is None:
            return
        try:
            home = await self.worker.call(home_of, path)
        except (LostError, RuntimeError) as exc:
            self._tell(f"{path}: {exc}")
            return
        if uri not in self.workspace.text_documents:
            return  # closed meanwhile
        before = self.homes.pop(path, None)
        if home is not None:
            self.homes[path] = home
            self.lint(home, 0)
        if before not in (None, home):
            self._left(before)

    def changed(self, uri: str) -> None:
        """A file was edited: lint its task once the typing pauses."""
        path = path_of(uri)
        if path in self.homes:
            self.lint(self.homes[path], DELAY)

    def closed(self, uri: str) -> None:
        """A file was closed: what lies on disk counts again, and of a task without an open file nothing is shown."""
        home = self.homes.pop(path_of(uri) or Path(), None)
        if home is not None:
            self._left(home)

    def on_disk(self, paths: Iterable[Path]) -> None:
        """Files changed on disk: lint the tasks that are open and may be concerned."""
        for path in paths:
            for home in set(self.homes.values()):
                if path.name in _CONFIGURATION or path.is_relative_to(home):
                    self.lint(home, DELAY)

    def _left(self, home: Path | None) -> None:
        if home in self.homes.values():
            assert home is not None
            self.lint(home, 0)
        elif home is not None:
            if timer := self._timers.pop(home, None):
                timer.cancel()
            self._again.discard(home)
            self._show(home, Judged())
            del self.judged[home]

    # Linting

    def lint(self, home: Path, delay: float) -> None:
        """Lint the tasks of a home after some seconds; one lint serves all that is asked for meanwhile."""
        if timer := self._timers.pop(home, None):
            timer.cancel()
        self._timers[home] = asyncio.get_running_loop().call_later(delay, self._begin, home)

    def _begin(self, home: Path) -> None:
        self._timers.pop(home, None)
        if home in self._running:
            self._again.add(home)
        else:
            self._running[home] = asyncio.get_running_loop().create_task(self._lint(home))

    async def _lint(self, home: Path) -> None:
        texts = {path: self.workspace.text_documents[uri].source for path, uri in self._documents(home)}
        encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        try:
            judged = await self.worker.call(judge, home, texts, encoding)
        except (LostError, RuntimeError) as exc:
            judged = Judged(problems=[f"{home}: could not be linted: {exc}"])
        finally:
            del self._running[home]
        for problem in judged.problems:
            self._tell(problem)
        if home in self.homes.values():
            self._show(home, judged)
        if home in self._again:
            self._again.discard(home)
            self._begin(home)

    def _documents(self, home: Path) -> Iterator[tuple[Path, str]]:
        """The open files whose text counts for a home: its own, and others that it may read (a list of apps)."""
        for uri in self.workspace.text_documents:
            path = path_of(uri)
            if path is not None and (path not in self.homes or self.homes[path] == home):
                yield path, uri

    def _show(self, home: Path, judged: Judged) -> None:
        before, self.judged[home] = self.judged.get(home, Judged()), judged
        for path in {notice.path for notice in [*before.notices, *judged.notices]}:
            uri, version = self.address(path)
            shown = {repr(n.diagnostic): n.diagnostic for n in self.notices(path)}  # tasks share files
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, list(shown.values()), version=version)
            )

    def end(self) -> None:
        """The editor is about to leave: nothing more is linted."""
        self._ending = True
        self.worker.end()

    def _tell(self, problem: str) -> None:
        if problem not in self._told and not self._ending:
            self._told.add(problem)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"scenlint: {problem}"))

    # Asking

    def notices(self, path: Path) -> Iterator[Notice]:
        """What is shown in a file."""
        for judged in self.judged.values():
            yield from (notice for notice in judged.notices if notice.path == path)

    def address(self, path: Path) -> tuple[str, int | None]:
        """How the editor calls a file, and which version of it it has open."""
        for uri, document in self.workspace.text_documents.items():
            if path_of(uri) == path:
                return uri, document.version
        return from_fs_path(str(path)) or "", None

    def hover(self, path: Path, at: types.Position) -> str:
        """The pages of the rules that have a finding there."""
        names = [str(n.diagnostic.code) for n in self.notices(path) if _touches(n.diagnostic.range, at, at)]
        found = [load_rules().find(name) for name in dict.fromkeys(names)]
        return "\n\n---\n\n".join(page_of(rule) for rule in found if rule is not None)

    def actions(self, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """What may be done about the findings in a range."""
        path = path_of(params.text_document.uri)
        if path is None:
            return
        quick = types.CodeActionKind.QuickFix
        here = [n for n in self.notices(path) if _touches(n.diagnostic.range, params.range.start, params.range.end)]
        for notice in here:
            if notice.fix:
                yield self._action(notice.fix, quick, notice.diagnostic)
        for notice in here:
            if notice.suppression:
                yield self._action(notice.suppression, quick, notice.diagnostic)
        for judged in self.judged.values():
            if path in judged.fixes:
                yield self._action(judged.fixes[path], FIX_ALL)

    def _action(self, offer: Offer, kind: str, about: types.Diagnostic | None = None) -> types.CodeAction:
        uri, version = self.address(offer.path)
        workspace = self.client_capabilities.workspace
        if workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes:
            document = types.OptionalVersionedTextDocumentIdentifier(uri, version)
            edit = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(offer.edits))])
        else:
            edit = types.WorkspaceEdit(changes={uri: offer.edits})
        preferred = True if offer.safe and about else None
        return types.CodeAction(offer.title, kind, [about] if about else None, is_preferred=preferred, edit=edit)


def path_of(uri: str) -> Path | None:
    """The file that an address names; None for what is no file (a new text without a name)."""
    name = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(name) if name else None


def _touches(place: types.Range, start: types.Position, end: types.Position) -> bool:
    return place.start <= end and start <= place.end


def wanted(kind: str, only: Iterable[str] | None) -> bool:
    """Whether an action of a kind was asked for: `source` asks for `source.fixAll` too."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") for one in only)


def make() -> Server:
    """The server with all that it answers to."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        await server.opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        await server.opened(params.text_document.uri)
        path = path_of(params.text_document.uri)
        if path and path.name in _CONFIGURATION:
            server.on_disk([path])

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        server.on_disk([path for change in params.changes if (path := path_of(change.uri))])

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        path = path_of(params.text_document.uri)
        page = server.hover(path, params.position) if path else ""
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, page)) if page else None

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]))
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return [a for a in server.actions(params) if wanted(str(getattr(a.kind, "value", a.kind)), params.context.only)]

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.end()

    return server
