// The extension: starts `groma lsp` and passes VS Code's questions about mappings to it. It uses
// VS Code's own interface and no packages.
'use strict';

const vscode = require('vscode');
const { spawn } = require('child_process');
const { Connection } = require('./connection');

const SELECTOR = [{ language: 'groma' }];
// How often the server is started again after it ended by itself.
const MAX_RESTARTS = 4;

let server = null; // of the type Server, while the extension is active

// ---- Values of the protocol as values of VS Code, and back.

const toPosition = (at) => new vscode.Position(at.line, at.character);
const toRange = (range) => new vscode.Range(toPosition(range.start), toPosition(range.end));
const toLocation = (place) => new vscode.Location(vscode.Uri.parse(place.uri), toRange(place.range));
const toTextEdit = (edit) => new vscode.TextEdit(toRange(edit.range), edit.newText);
const fromPosition = (at) => ({ line: at.line, character: at.character });
const fromRange = (range) => ({ start: fromPosition(range.start), end: fromPosition(range.end) });
const placeIn = (document, position) => ({
  textDocument: { uri: document.uri.toString() },
  position: fromPosition(position),
});

function toWorkspaceEdit(edit) {
  const result = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(edit.changes)) {
    result.set(vscode.Uri.parse(uri), edits.map(toTextEdit));
  }
  return result;
}

function toDiagnostic(each) {
  // The protocol counts severities from 1, VS Code from 0.
  const diagnostic = new vscode.Diagnostic(toRange(each.range), each.message, each.severity - 1);
  diagnostic.source = each.source;
  diagnostic.code = each.code;
  diagnostic.tags = each.tags;
  diagnostic.relatedInformation = (each.relatedInformation || []).map(
    (one) => new vscode.DiagnosticRelatedInformation(toLocation(one.location), one.message));
  return diagnostic;
}

function toCompletion(each) {
  // VS Code counts kinds from 0.
  const item = new vscode.CompletionItem(each.label, each.kind - 1);
  item.detail = each.detail;
  item.documentation = each.documentation;
  item.range = toRange(each.textEdit.range);
  item.insertText = each.textEdit.newText;
  return item;
}

function toAction(each) {
  const kind = vscode.CodeActionKind.Empty.append(each.kind);
  const action = new vscode.CodeAction(each.title, kind);
  action.edit = toWorkspaceEdit(each.edit);
  action.diagnostics = (each.diagnostics || []).map(toDiagnostic);
  action.isPreferred = each.isPreferred;
  return action;
}

// ---- The server

class Server {
  constructor() {
    this.diagnostics = vscode.languages.createDiagnosticCollection('groma');
    this.hintsChanged = new vscode.EventEmitter();
    this.restarts = 0;
    this.connection = null;
  }

  start() {
    const settings = vscode.workspace.getConfiguration('groma');
    const command = settings.get('command');
    const child = spawn(command, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.child = child;
    child.on('error', (error) => {
      vscode.window.showErrorMessage(
        `Groma: cannot start \`${command}\`: ${error.message}. The setting groma.command names the command.`);
    });
    const connection = new Connection(child.stdout, child.stdin, {
      notification: (method, params) => this.hear(method, params),
      request: (method) => {
        if (method === 'workspace/inlayHint/refresh') this.hintsChanged.fire();
      },
      end: () => this.ended(connection),
    });
    this.connection = connection;
    const initialize = {
      processId: process.pid,
      rootUri: null,
      capabilities: {
        textDocument: {
          hover: { contentFormat: ['markdown'] },
          documentSymbol: { hierarchicalDocumentSymbolSupport: true },
        },
        workspace: { inlayHint: { refreshSupport: true } },
      },
      initializationOptions: { machine: settings.get('machine'), app: settings.get('app') },
    };
    this.ready = connection.request('initialize', initialize).then(
      () => {
        connection.notify('initialized', {});
        for (const document of vscode.workspace.textDocuments) this.open(document);
      },
      () => {});
  }

  async stop() {
    const connection = this.connection;
    this.connection = null;
    this.diagnostics.clear();
    if (!connection || connection.ended) return;
    await connection.request('shutdown').catch(() => {});
    connection.notify('exit');
    this.child.stdin.end();
  }

  ended(connection) {
    if (this.connection !== connection) return;
    this.connection = null;
    this.diagnostics.clear();
    if (this.restarts++ < MAX_RESTARTS) setTimeout(() => this.connection || this.start(), 1000);
  }

  hear(method, params) {
    if (method === 'textDocument/publishDiagnostics') {
      this.diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic));
    } else if (method === 'window/showMessage') {
      const show = params.type === 1 ? 'showErrorMessage' : 'showWarningMessage';
      vscode.window[show](params.message);
    }
  }

  // Asks a question. An error of the server, such as a cancelled request, is no answer.
  async ask(method, params, token, convert) {
    if (!this.connection) return undefined;
    await this.ready;
    const result = await this.connection.request(method, params, token).catch(() => null);
    return result === null ? undefined : convert(result);
  }

  notify(method, document, params) {
    if (document.languageId !== 'groma' || !this.connection) return;
    this.connection.notify(method, { textDocument: { uri: document.uri.toString() }, ...params });
  }

  open(document) {
    this.notify('textDocument/didOpen', document, {
      textDocument: {
        uri: document.uri.toString(),
        languageId: 'groma',
        version: document.version,
        text: document.getText(),
      },
    });
  }

  change({ document, contentChanges }) {
    if (contentChanges.length === 0) return;
    this.notify('textDocument/didChange', document, {
      textDocument: { uri: document.uri.toString(), version: document.version },
      contentChanges: contentChanges.map(({ range, text }) => ({ range: fromRange(range), text })),
    });
  }
}

// ---- What VS Code asks

function providers() {
  const ask = (...question) => server.ask(...question);
  const { languages } = vscode;
  return [
    languages.registerHoverProvider(SELECTOR, {
      provideHover: (document, position, token) =>
        ask('textDocument/hover', placeIn(document, position), token, (hover) =>
          new vscode.Hover(new vscode.MarkdownString(hover.contents.value), toRange(hover.range))),
    }),
    languages.registerCompletionItemProvider(SELECTOR, {
      provideCompletionItems: (document, position, token) =>
        ask('textDocument/completion', placeIn(document, position), token, (list) =>
          new vscode.CompletionList(list.items.map(toCompletion), list.isIncomplete)),
    }, '.'),
    languages.registerDefinitionProvider(SELECTOR, {
      provideDefinition: (document, position, token) =>
        ask('textDocument/definition', placeIn(document, position), token, toLocation),
    }),
    languages.registerReferenceProvider(SELECTOR, {
      provideReferences: (document, position, context, token) =>
        ask('textDocument/references', {
          ...placeIn(document, position),
          context: { includeDeclaration: context.includeDeclaration },
        }, token, (places) => places.map(toLocation)),
    }),
    languages.registerDocumentHighlightProvider(SELECTOR, {
      provideDocumentHighlights: (document, position, token) =>
        ask('textDocument/documentHighlight', placeIn(document, position), token, (all) =>
          all.map((each) => new vscode.DocumentHighlight(toRange(each.range), each.kind - 1))),
    }),
    languages.registerRenameProvider(SELECTOR, {
      // An error is shown to the user here, since it says why the name is not possible.
      provideRenameEdits: async (document, position, newName, token) =>
        toWorkspaceEdit(await server.connection.request(
          'textDocument/rename', { ...placeIn(document, position), newName }, token)),
      prepareRename: async (document, position, token) => {
        const found = await ask('textDocument/prepareRename', placeIn(document, position), token,
          ({ range, placeholder }) => ({ range: toRange(range), placeholder }));
        if (!found) throw new Error('there is no name here');
        return found;
      },
    }),
    languages.registerDocumentSymbolProvider(SELECTOR, {
      provideDocumentSymbols: (document, token) =>
        ask('textDocument/documentSymbol', { textDocument: { uri: document.uri.toString() } }, token,
          (all) => all.map((each) => new vscode.DocumentSymbol(
            each.name, '', each.kind - 1, toRange(each.range), toRange(each.selectionRange)))),
    }),
    languages.registerDocumentFormattingEditProvider(SELECTOR, {
      provideDocumentFormattingEdits: (document, options, token) =>
        ask('textDocument/formatting', { textDocument: { uri: document.uri.toString() }, options },
          token, (edits) => edits.map(toTextEdit)),
    }),
    languages.registerCodeActionsProvider(SELECTOR, {
      provideCodeActions: (document, range, context, token) =>
        ask('textDocument/codeAction', {
          textDocument: { uri: document.uri.toString() },
          range: fromRange(range),
          context: { diagnostics: [], only: context.only ? [context.only.value] : undefined },
        }, token, (actions) => actions.map(toAction)),
    }),
    languages.registerInlayHintsProvider(SELECTOR, {
      onDidChangeInlayHints: server.hintsChanged.event,
      provideInlayHints: (document, range, token) =>
        ask('textDocument/inlayHint', {
          textDocument: { uri: document.uri.toString() },
          range: fromRange(range),
        }, token, (hints) => hints.map((each) => {
          const hint = new vscode.InlayHint(toPosition(each.position), each.label);
          hint.paddingLeft = true;
          hint.tooltip = each.tooltip;
          return hint;
        })),
    }),
  ];
}

function activate(context) {
  server = new Server();
  const { workspace } = vscode;
  const watcher = workspace.createFileSystemWatcher('**/groma.toml');
  const examine = () => server.connection &&
    server.connection.notify('workspace/didChangeWatchedFiles', { changes: [] });
  context.subscriptions.push(
    server.diagnostics,
    server.hintsChanged,
    watcher,
    watcher.onDidCreate(examine),
    watcher.onDidChange(examine),
    watcher.onDidDelete(examine),
    workspace.onDidOpenTextDocument((document) => server.open(document)),
    workspace.onDidChangeTextDocument((event) => server.change(event)),
    workspace.onDidSaveTextDocument((document) =>
      server.notify('textDocument/didSave', document, {})),
    workspace.onDidCloseTextDocument((document) =>
      server.notify('textDocument/didClose', document, {})),
    vscode.commands.registerCommand('groma.restart', async () => {
      await server.stop();
      server.restarts = 0;
      server.start();
    }),
    ...providers());
  server.start();
}

function deactivate() {
  return server ? server.stop() : undefined;
}

module.exports = { activate, deactivate };
