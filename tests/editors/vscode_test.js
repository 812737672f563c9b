// The VS Code extension against `groma lsp`, with a small stand-in for VS Code's interface:
//   node vscode_test.js GROMA EXTENSION_FOLDER
// VS Code itself is not run.
'use strict';
const assert = require('assert');
const fs = require('fs');
const Module = require('module');
const os = require('os');
const path = require('path');

const [groma, extension] = process.argv.slice(2).map((name) => path.resolve(name));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'groma-vscode-'));
fs.writeFileSync(path.join(folder, 'groma.toml'), 'machine = "p100x4:nodes=2"\napp = "circuit:nodes=2"\n');

// ---- The stand-in: values that keep what they are made of, and events that the test fires.
const value = (...names) => class {
  constructor(...all) { names.forEach((name, i) => { this[name] = all[i]; }); }
};
class EventEmitter {
  constructor() {
    this.hearers = [];
    this.event = (hearer) => { this.hearers.push(hearer); return { dispose() {} }; };
  }
  fire(what) { this.hearers.forEach((hearer) => hearer(what)); }
  dispose() {}
}
const shown = [];
const diagnostics = new Map();
const provided = {};
const events = {};
const settings = { command: groma, machine: '', app: '' };
const languages = new Proxy({
  createDiagnosticCollection: () => ({
    set: (uri, list) => diagnostics.set(uri.toString(), list), clear: () => diagnostics.clear(), dispose() {},
  }),
}, {
  get: (own, name) => own[name] ||
    ((selector, provider) => { Object.assign(provided, provider); return { dispose() {} }; }),
});
const workspace = new Proxy({
  textDocuments: [],
  getConfiguration: () => ({ get: (name) => settings[name] }),
  createFileSystemWatcher: () => ({
    onDidCreate() {}, onDidDelete() {}, onDidChange(hearer) { events.watched = hearer; }, dispose() {},
  }),
}, { get: (own, name) => own[name] || ((hearer) => { events[name] = hearer; return { dispose() {} }; }) });
const vscode = {
  languages,
  workspace,
  EventEmitter,
  Uri: { parse: (text) => ({ toString: () => text }) },
  Position: value('line', 'character'),
  Range: value('start', 'end'),
  Location: value('uri', 'range'),
  TextEdit: value('range', 'newText'),
  Diagnostic: value('range', 'message', 'severity'),
  DiagnosticRelatedInformation: value('location', 'message'),
  Hover: value('contents', 'range'),
  MarkdownString: value('value'),
  CompletionItem: value('label', 'kind'),
  CompletionList: value('items', 'isIncomplete'),
  CodeAction: value('title', 'kind'),
  CodeActionKind: { Empty: { append: (text) => ({ value: text }) } },
  DocumentHighlight: value('range', 'kind'),
  DocumentSymbol: value('name', 'detail', 'kind', 'range', 'selectionRange'),
  InlayHint: value('position', 'label'),
  WorkspaceEdit: class { constructor() { this.all = new Map(); } set(uri, edits) { this.all.set(uri.toString(), edits); } },
  window: { showErrorMessage: (text) => shown.push(text), showWarningMessage: (text) => shown.push(text) },
  commands: { registerCommand: (name, run) => { events[name] = run; return { dispose() {} }; } },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

async function until(condition, what) {
  for (let i = 0; i < 6000; ++i) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`waiting for ${what}; shown: ${shown}`);
}

async function main() {
  const { activate, deactivate } = require(path.join(extension, 'extension.js'));
  const uri = `file://${folder}/a.mapper`;
  let text = 'Task * GPUS, CPU;\nm = Machine(GPU);\ndef f(Task task) {\n  return m[0,0];\n}\n' +
    'IndexTaskMap calculate_new_currents f;\nIndexTaskMap calculate_new_currents f;\n';
  const document = {
    uri: { toString: () => uri }, languageId: 'groma', version: 1, getText: () => text,
  };
  workspace.textDocuments.push(document);
  const context = { subscriptions: [] };
  activate(context);
  const at = (line, character) => new vscode.Position(line, character);
  const all = new vscode.Range(at(0, 0), at(99, 0));

  await until(() => diagnostics.has(uri) && diagnostics.get(uri).length > 0, 'a diagnostic');
  const [first] = diagnostics.get(uri);
  assert.strictEqual(first.code, 'unknown-processor');
  assert.strictEqual(first.severity, 0);
  assert.deepStrictEqual({ ...first.range.start }, { line: 0, character: 7 });
  const actions = await provided.provideCodeActions(document, all, {});
  assert.strictEqual(actions[0].edit.all.get(uri)[0].newText, 'GPU');

  text = text.replace('GPUS', 'GPU');
  document.version = 2;
  events.onDidChangeTextDocument({
    document, contentChanges: [{ range: new vscode.Range(at(0, 10), at(0, 11)), text: '' }],
  });
  await until(() => diagnostics.get(uri).every((each) => each.severity > 0), 'no error');
  const hover = await provided.provideHover(document, at(5, 3));
  assert.match(hover.contents.value, /\*\*Decides\*\* in circuit/);
  const list = await provided.provideCompletionItems(document, at(5, 17));
  assert.deepStrictEqual(list.items.map((item) => item.label), ['calculate_new_currents']);
  assert.strictEqual((await provided.provideDefinition(document, at(5, 36))).range.start.line, 2);
  assert.strictEqual((await provided.provideReferences(document, at(2, 4), { includeDeclaration: true })).length, 3);
  assert.strictEqual((await provided.provideDocumentHighlights(document, at(2, 4))).length, 3);
  assert.strictEqual((await provided.prepareRename(document, at(2, 4))).placeholder, 'f');
  assert.strictEqual((await provided.provideRenameEdits(document, at(2, 4), 'g')).all.get(uri).length, 3);
  await assert.rejects(provided.provideRenameEdits(document, at(2, 4), 'm'), /already means/);
  assert.strictEqual((await provided.provideDocumentSymbols(document)).length, 5);
  assert.match((await provided.provideDocumentFormattingEdits(document, {}))[0].newText, /m\[0, 0\]/);
  assert.strictEqual((await provided.provideInlayHints(document, all))[0].label, 'shadowed by line 6');

  fs.writeFileSync(path.join(folder, 'groma.toml'), 'machine = 4\n');
  events.watched();
  await until(() => (diagnostics.get(`file://${folder}/groma.toml`) || []).length === 1, 'a mistake in groma.toml');

  await events['groma.restart']();
  await until(() => diagnostics.has(uri), 'diagnostics of the new server');
  await deactivate();

  settings.command = path.join(folder, 'absent');
  await events['groma.restart']();
  await until(() => shown.length > 0, 'the message about the command');
  assert.match(shown[0], /groma\.command/);
  fs.rmSync(folder, { recursive: true });
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
