"""pytest-lsp's client, which is pygls's, against `groma lsp`. GROMA names the command."""
import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

TEXT = """\
Task * GPUS, CPU;
m = Machine(GPU);
def f(Task task) {
  return m[0,0];
}
IndexTaskMap calculate_new_currents f;
IndexTaskMap calculate_new_currents f;
"""


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[os.environ["GROMA"], "lsp"]))
async def client(lsp_client: LanguageClient):
    await lsp_client.initialize_session(types.InitializeParams(
        capabilities=client_capabilities("visual-studio-code"), root_uri=None))
    yield
    await lsp_client.shutdown_session()


def edits_of(text: str, edits: list) -> str:
    """The text with the edits, whose positions count characters of the Basic Multilingual Plane."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        begin = starts[edit.range.start.line] + edit.range.start.character
        end = starts[edit.range.end.line] + edit.range.end.character
        text = text[:begin] + edit.new_text + text[end:]
    return text


@pytest.mark.asyncio
async def test_a_session(client: LanguageClient, tmp_path: pathlib.Path) -> None:
    (tmp_path / "groma.toml").write_text('machine = "p100x4:nodes=2"\napp = "circuit:nodes=2"\n')
    uri = (tmp_path / "a.mapper").as_uri()
    document = types.TextDocumentIdentifier(uri=uri)
    client.text_document_did_open(types.DidOpenTextDocumentParams(
        text_document=types.TextDocumentItem(uri=uri, language_id="groma", version=1, text=TEXT)))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert client.diagnostics[uri][0].code == "unknown-processor"

    everything = types.Range(start=types.Position(line=0, character=0), end=types.Position(line=9, character=0))
    actions = await client.text_document_code_action_async(types.CodeActionParams(
        text_document=document, range=everything, context=types.CodeActionContext(diagnostics=[])))
    fixed = next(action for action in actions if action.kind == types.CodeActionKind.QuickFix)
    text = edits_of(TEXT, fixed.edit.changes[uri])
    assert text.startswith("Task * GPU, CPU;")
    client.text_document_did_change(types.DidChangeTextDocumentParams(
        text_document=types.VersionedTextDocumentIdentifier(uri=uri, version=2),
        content_changes=[types.TextDocumentContentChangeEvent_Type2(text=text)]))

    def at(line: int, character: int) -> dict:
        return {"text_document": document, "position": types.Position(line=line, character=character)}

    hover = await client.text_document_hover_async(types.HoverParams(**at(5, 3)))
    assert "**Decides** in circuit" in hover.contents.value
    assert "by f on GPU" in hover.contents.value
    completion = await client.text_document_completion_async(types.CompletionParams(**at(5, 17)))
    assert [item.label for item in completion.items] == ["calculate_new_currents"]
    definition = await client.text_document_definition_async(types.DefinitionParams(**at(5, 36)))
    assert definition.range.start == types.Position(line=2, character=4)
    references = await client.text_document_references_async(types.ReferenceParams(
        **at(2, 4), context=types.ReferenceContext(include_declaration=True)))
    assert len(references) == 3
    renamed = await client.text_document_rename_async(types.RenameParams(**at(2, 4), new_name="zero"))
    assert "IndexTaskMap calculate_new_currents zero;" in edits_of(text, renamed.changes[uri])
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=document))
    assert [symbol.name for symbol in symbols][1:3] == ["m", "f"]
    formatted = await client.text_document_formatting_async(types.DocumentFormattingParams(
        text_document=document, options=types.FormattingOptions(tab_size=2, insert_spaces=True)))
    assert "m[0, 0]" in edits_of(text, formatted)
    hints = await client.text_document_inlay_hint_async(
        types.InlayHintParams(text_document=document, range=everything))
    assert "shadowed by line 6" in [hint.label for hint in hints]
