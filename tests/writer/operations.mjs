// The reference as a writer: one JSON request a line, one JSON answer a line. The clock stands still.
// Request: {"op": name, ...its own fields}; answer: {"id": ...} or {"error": message}.
// "begin" starts anew in a folder (or in memory), "files" gives every session file of it.
import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [root, clock] = process.argv.slice(2);
const now = Number(clock);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length ? args : [now]));
  }
  static now() {
    return now;
  }
};

const file = path.join(root, "node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js");
const { SessionManager } = await import(pathToFileURL(file).href);

let folder, cwd, manager;

const operations = {
  begin(request) {
    ({ folder, cwd } = request);
    manager = folder ? SessionManager.create(cwd, folder) : SessionManager.inMemory(cwd);
  },
  open: ({ path: name }) => void (manager = SessionManager.open(name, folder)),
  reopen() {
    if (!fs.existsSync(manager.getSessionFile())) throw new Error("no file yet");
    manager = SessionManager.open(manager.getSessionFile(), folder);
  },
  message: ({ message }) => manager.appendMessage(message),
  customMessage: ({ kind, content, display, details }) =>
    manager.appendCustomMessageEntry(kind, content, display, details),
  custom: ({ kind, data }) => manager.appendCustomEntry(kind, data),
  model: ({ provider, model }) => manager.appendModelChange(provider, model),
  thinking: ({ level }) => manager.appendThinkingLevelChange(level),
  usage: ({ kind, provider, model, usage, note }) => manager.appendUsage(kind, provider, model, usage, note).id,
  name: ({ name }) => manager.appendSessionInfo(name),
  label: ({ target, label }) => manager.appendLabelChange(target, label ?? undefined),
  compaction: ({ summary, kept, tokens, details, hook, usage }) =>
    manager.appendCompaction(summary, kept ?? undefined, tokens, details, hook, usage),
  edit: ({ target, replacement }) => manager.appendContextEdit(target, replacement),
  branch: ({ target }) => void manager.branch(target),
  reset: () => void manager.resetLeaf(),
  summary: ({ target, summary, details, hook, usage }) =>
    manager.branchWithSummary(target, summary, details, hook, usage),
  fork: ({ target }) => void manager.createBranchedSession(target),
  forkAll() {
    if (!fs.existsSync(manager.getSessionFile())) throw new Error("no file yet");
    manager = SessionManager.forkFrom(manager.getSessionFile(), cwd, folder);
  },
  leaf: () => manager.getLeafId(),
  lines: () => [manager.getHeader(), ...manager.getEntries()].map((entry) => `${JSON.stringify(entry)}\n`).join(""),
  files() {
    const names = fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    return Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(folder, name), "utf8")]));
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = { id: operations[request.op](request) ?? null };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
