"""`scenlint lsp` as an editor meets it: the real process, spoken to by a real client over its standard streams."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

from scenlint.lsp.worker import LostError, Worker

UNPINNED = "FROM python:3.12\nWORKDIR /app\n"


class Editor:
    """An editor with files open; keeps the diagnostics that it was last sent for each."""

    def __init__(self, encodings=("utf-16",)):
        self.client = LanguageClient("editor", "1")
        self.shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.news = asyncio.Event()
        self.encodings = list(encodings)
        self.versions: dict[str, int] = {}

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            self.shown[params.uri] = params
            self.news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def told(params):
            self.messages.append(params.message)
            self.news.set()

    async def __aenter__(self):
        environment = {**os.environ, "SCENLINT_TRACEBACK": "1"}
        command = ["-c", "from scenlint.cli.app import main; main()", "lsp", "--stdio"]
        await self.client.start_io(sys.executable, *command, env=environment)
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=self.encodings),
            workspace=types.WorkspaceClientCapabilities(
                workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
            ),
        )
        self.started = await self.client.initialize_async(types.InitializeParams(capabilities=capabilities))
        self.client.initialized(types.InitializedParams())
        return self

    async def __aexit__(self, *_):
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def open(self, path: Path, text: str | None = None) -> str:
        uri = from_fs_path(str(path))
        self.versions[uri] = 1
        text = path.read_text() if text is None else text
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "plaintext", 1, text))
        )
        return uri

    def edit(self, uri: str, text: str) -> None:
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def until(self, true) -> None:
        async def wait():
            while not true():
                self.news.clear()
                await self.news.wait()

        await asyncio.wait_for(wait(), 60)

    def rules(self, uri: str) -> list[str]:
        return [d.code for d in self.shown[uri].diagnostics] if uri in self.shown else []

    async def found(self, uri: str, rule: str) -> types.Diagnostic:
        await self.until(lambda: rule in self.rules(uri))
        return next(d for d in self.shown[uri].diagnostics if d.code == rule)

    async def actions(self, uri: str, place: types.Range, only=None) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        return await self.client.text_document_code_action_async(params)

    async def hover(self, uri: str, place: types.Position) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), place)
        answer = await self.client.text_document_hover_async(params)
        return answer.contents.value if answer else ""


@pytest.fixture(scope="module")
def session():
    """Runs what is done in an editor; all tests but a few share one, each with a task of its own."""
    with asyncio.Runner() as runner:
        editor = Editor()
        runner.run(editor.__aenter__())

        def run(play):
            editor.messages.clear()
            runner.run(play(editor))

        yield run
        runner.run(editor.__aexit__())


def put(text: str, edits: list[types.TextEdit]) -> str:
    """What an editor makes of edits to a text (of the basic plane, so that units are characters)."""
    lines = text.splitlines(keepends=True)

    def offset(at):
        return sum(map(len, lines[: at.line])) + at.character

    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def test_unsaved_text_is_linted_and_what_is_mended_disappears(session, harbor_task):
    dockerfile = harbor_task / "environment" / "Dockerfile"
    sound = dockerfile.read_text()

    async def play(editor):
        uri = editor.open(dockerfile)
        brief = editor.open(harbor_task / "instruction.md")
        await editor.until(lambda: from_fs_path(str(harbor_task / "task.toml")) in editor.shown)
        assert editor.rules(uri) == []
        editor.edit(uri, sound.replace(sound.split()[1], "python:3.12"))
        found = await editor.found(uri, "unpinned-image")
        assert found.source == "scenlint"
        assert found.severity == types.DiagnosticSeverity.Error
        assert "help: " in found.message
        assert editor.shown[uri].version == 2
        place = found.range
        assert (place.start.line, place.start.character, place.end.character) == (0, 5, 5 + len("python:3.12"))
        assert dockerfile.read_text() == sound
        editor.edit(uri, sound)
        await editor.until(lambda: editor.rules(uri) == [])
        editor.close(uri)
        editor.close(brief)
        await editor.until(lambda: not editor.rules(from_fs_path(str(harbor_task / "task.toml"))))

    session(play)


LISTING = """# 🎉

import os

PARTY = "🎉", os.listdir("/app")[0]


def test_x():
    assert PARTY[1] == "a"
"""


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 16), ("utf-32", 13)])
def test_columns_count_in_the_units_the_editor_asked_for(harbor_task, encoding, column):
    verifier = harbor_task / "tests" / "test_outputs.py"

    async def play():
        async with Editor([encoding]) as editor:
            assert editor.started.capabilities.position_encoding == encoding
            uri = editor.open(verifier, LISTING)
            found = await editor.found(uri, "listing-order")
            assert (found.range.start.line, found.range.start.character) == (4, column)

    asyncio.run(play())


def test_lines_end_where_the_protocol_says(session, harbor_task):
    verifier = harbor_task / "tests" / "test_outputs.py"
    text = LISTING.replace("# 🎉", "# 🎉 \x0c\x0b\x1c\u2028 of lines.").replace("\n", "\r\n", 1)

    async def play(editor):
        uri = editor.open(verifier)
        editor.edit(uri, text)
        found = await editor.found(uri, "listing-order")
        assert found.range.start.line == 4

    session(play)


def test_a_quick_fix_makes_the_finding_disappear(session, harbor_task):
    verifier = harbor_task / "tests" / "test_outputs.py"

    async def play(editor):
        uri = editor.open(verifier, LISTING)
        found = await editor.found(uri, "listing-order")
        assert found.range.start == types.Position(4, 14)  # in units of UTF-16
        actions = await editor.actions(uri, found.range, only=["quickfix"])
        fix = next(a for a in actions if a.is_preferred)
        assert [d.code for d in fix.diagnostics] == ["listing-order"]
        change = fix.edit.document_changes[0]
        assert (change.text_document.uri, change.text_document.version) == (uri, 1)
        editor.edit(uri, put(LISTING, change.edits))
        await editor.until(lambda: "listing-order" not in editor.rules(uri))
        everything = await editor.actions(uri, found.range, only=["source"])
        assert not everything

    session(play)


def test_all_safe_fixes_of_a_file_can_be_applied_at_once(session, harbor_task):
    verifier = harbor_task / "tests" / "test_outputs.py"
    text = LISTING.replace('"a"', 'sorted(os.listdir("/b"))[0] or os.listdir("/c")[1]')

    async def play(editor):
        uri = editor.open(verifier, text)
        found = await editor.found(uri, "listing-order")
        (action,) = await editor.actions(uri, found.range, only=["source.fixAll"])
        assert action.kind == "source.fixAll.scenlint"
        editor.edit(uri, put(text, action.edit.document_changes[0].edits))
        await editor.until(lambda: "listing-order" not in editor.rules(uri))

    session(play)


def test_a_fix_that_somebody_has_to_look_at_is_marked(session, harbor_task):
    verifier = harbor_task / "tests" / "test_outputs.py"
    text = "import random\n\n\ndef test_x():\n    assert open('/app/answer.txt').read() == str(random.random())\n"

    async def play(editor):
        uri = editor.open(verifier, text)
        found = await editor.found(uri, "unseeded-random")
        actions = [a for a in await editor.actions(uri, found.range) if "Suppress" not in a.title]
        assert [(a.title.endswith("(look at what it did)"), a.is_preferred) for a in actions] == [(True, None)]

    session(play)


def test_a_suppression_waits_for_its_reason(session, harbor_task):
    verifier = harbor_task / "tests" / "test_outputs.py"

    async def play(editor):
        uri = editor.open(verifier, LISTING)
        found = await editor.found(uri, "listing-order")
        actions = await editor.actions(uri, found.range)
        action = next(a for a in actions if a.title.startswith("Suppress `listing-order`"))
        text = put(LISTING, action.edit.document_changes[0].edits)
        assert "\n# scenlint: ignore[listing-order] \nPARTY" in text
        editor.edit(uri, text)
        await editor.found(uri, "suppression-without-reason")
        assert "listing-order" in editor.rules(uri)
        editor.edit(uri, text.replace("order] ", "order] the folder holds one file"))
        await editor.until(lambda: not {"listing-order", "suppression-without-reason"} & set(editor.rules(uri)))

    session(play)


def test_hovering_over_a_finding_shows_the_page_of_its_rule(session, harbor_task):
    dockerfile = harbor_task / "environment" / "Dockerfile"

    async def play(editor):
        uri = editor.open(dockerfile, UNPINNED)
        found = await editor.found(uri, "unpinned-image")
        page = await editor.hover(uri, found.range.end)
        assert page.startswith("# unpinned-image\n\nSL3")
        assert "## How to fix" in page
        assert await editor.hover(uri, types.Position(1, 0)) == ""

    session(play)


def test_what_is_about_no_file_stands_in_an_open_one(session, harbor_task):
    brief = harbor_task / "instruction.md"
    (harbor_task / "tests" / "test.sh").unlink()

    async def play(editor):
        uri = editor.open(brief)
        found = await editor.found(uri, "missing-file")
        assert "`tests/test.sh` is missing" in found.message

    session(play)


def test_a_related_place_names_its_file(session, harbor_task):
    folder = harbor_task / "environment"
    (folder / ".dockerignore").write_text("data\n")
    (folder / "data").mkdir()
    (folder / "data" / "in.csv").write_text("1\n")

    async def play(editor):
        uri = editor.open(folder / "Dockerfile", "FROM python:3.12\nCOPY data/in.csv /app/\n")
        found = await editor.found(uri, "missing-build-input")
        (place,) = found.related_information
        assert place.location.uri == from_fs_path(str(folder / ".dockerignore"))
        assert place.message == "the patterns"

    session(play)


def test_a_configuration_that_is_wrong_is_said_once_and_its_mending_counts(session, harbor_task):
    dockerfile, settings = harbor_task / "environment" / "Dockerfile", harbor_task.parent / "scenlint.toml"
    settings.write_text("selct = []\n")

    async def play(editor):
        uri = editor.open(dockerfile, UNPINNED)
        await editor.until(lambda: editor.messages)
        assert "unknown key `selct`" in editor.messages[0]
        own = editor.open(settings)
        settings.write_text("ignore = ['SL3']\nextend-select = ['unpinned-image']\n")
        saved = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(own))
        editor.client.text_document_did_save(saved)
        await editor.found(uri, "unpinned-image")
        assert len(editor.messages) == 1

    session(play)


def test_the_server_outlives_the_process_that_judges(session, harbor_task):
    dockerfile = harbor_task / "environment" / "Dockerfile"

    async def play(editor):
        uri = editor.open(dockerfile, UNPINNED)
        await editor.found(uri, "unpinned-image")
        server = editor.client._server.pid
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        judges = [int(c) for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]
        assert len(judges) == 1
        os.kill(judges[0], signal.SIGKILL)
        editor.edit(uri, "FROM python:latest\n")
        await editor.until(lambda: editor.messages or "latest-tag" in editor.rules(uri))
        editor.edit(uri, "FROM python:latest\nWORKDIR /app\n")
        await editor.found(uri, "latest-tag")

    session(play)


def test_what_dies_or_hangs_is_ended_and_the_next_call_is_answered():
    async def play():
        worker = Worker(limit=20)
        with pytest.raises(LostError, match="died"):
            await worker.call(os._exit, 3)
        first = await worker.call(os.getpid)
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            await worker.call(divmod, 1, 0)
        assert await worker.call(os.getpid) == first
        worker.limit = 0.2
        with pytest.raises(LostError, match="no answer"):
            await worker.call(signal.pause)
        worker.limit = 20
        assert await worker.call(os.getpid) != first
        worker.end()

    asyncio.run(play())


def test_files_that_belong_to_no_task_are_let_be(session, tmp_path, harbor_task):
    (tmp_path / "notes.md").write_text("FROM python\n")
    dockerfile = harbor_task / "environment" / "Dockerfile"

    async def play(editor):
        stranger = editor.open(tmp_path / "notes.md")
        nameless = types.TextDocumentItem("untitled:1", "plaintext", 1, UNPINNED)
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(nameless))
        await editor.found(editor.open(dockerfile, UNPINNED), "unpinned-image")
        assert stranger not in editor.shown
        assert await editor.hover(stranger, types.Position(0, 0)) == ""

    session(play)
