// Asks the installed reference about single claims of a chapter on its session file; one JSON object, by claim.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const packages = path.join(import.meta.dirname, "..", "conformance", "oracle", "node_modules", "@earendil-works");
const load = (file) => import(pathToFileURL(path.join(packages, file)).href);
const home = fs.mkdtempSync(path.join(os.tmpdir(), "claims-"));
process.on("exit", () => fs.rmSync(home, { recursive: true, force: true }));
process.env.HOME = home;
process.env.PI_CODING_AGENT_DIR = path.join(home, "agent");
process.chdir(home);

const sessions = await load("pi-coding-agent/dist/core/session-manager.js");
const { SessionManager, buildSessionContext, getDefaultSessionDir } = sessions;
const { convertToLlm } = await load("pi-coding-agent/dist/core/messages.js");
const { getCurrentSystemMessage } = await load("pi-ai/dist/utils/transcript.js");

const user = (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const reply = (text, model = "birch-1") => ({
  role: "assistant", content: [{ type: "text", text }], api: "openai-completions", provider: "birch", model,
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  stopReason: "stop", timestamp: 2,
});
const USAGE = reply("").usage;
const told = (manager) => convertToLlm(manager.buildSessionContext().messages)
  .map((message) => (typeof message.content === "string" ? message.content : message.content.map((b) => b.text).join("")));
let folders = 0;
const folder = () => {
  const made = path.join(home, `store-${++folders}`);
  fs.mkdirSync(made);
  return made;
};
const write = (lines) => {
  const file = path.join(folder(), "session.jsonl");
  fs.writeFileSync(file, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n") + "\n");
  return file;
};
const header = (more = {}) => ({ type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: home, ...more });
const entry = (type, id, parentId, more) => ({ type, id, parentId, timestamp: "2026-01-01T00:00:01.000Z", ...more });
const lines = (file) => fs.readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const attempt = (work) => {
  try { return { value: work() ?? null }; } catch (error) { return { error: String(error.message ?? error) }; }
};

const claims = {
  branching_keeps_the_file() {
    const manager = SessionManager.create(home, folder());
    const first = manager.appendMessage(user("one"));
    manager.appendMessage(reply("a"));
    const file = manager.getSessionFile();
    const before = fs.readFileSync(file);
    manager.branch(first);
    manager.appendMessage(reply("b"));
    const after = fs.readFileSync(file);
    return { prefixKept: after.subarray(0, before.length).equals(before), files: fs.readdirSync(path.dirname(file)).length,
      children: manager.getChildren(first).length };
  },
  opening_writes() {
    const old = write([{ type: "session", id: "s", timestamp: "2025-01-01T00:00:00.000Z", cwd: home },
      { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: user("one") }]);
    SessionManager.open(old);
    const torn = write([header(), entry("message", "a", null, { message: user("one") })]);
    fs.truncateSync(torn, fs.statSync(torn).size - 1);
    const size = fs.statSync(torn).size;
    SessionManager.open(torn);
    return { old: lines(old), grown: fs.statSync(torn).size - size };
  },
  folder_of_a_path() {
    const name = (cwd) => path.basename(getDefaultSessionDir(cwd, path.join(home, "agent")));
    return { unix: name("/work/api"), windows: name("C:\\work\\api"), colon: name("/a:b") };
  },
  set_directory_is_flat() {
    const dir = folder();
    const manager = SessionManager.create("/somewhere/else", dir);
    manager.appendMessage(user("one"));
    return { directly: path.dirname(manager.getSessionFile()) === dir };
  },
  fork_does_not_migrate() {
    const old = write([{ type: "session", id: "s", timestamp: "2025-01-01T00:00:00.000Z", cwd: home },
      { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: user("one") },
      { type: "message", timestamp: "2025-01-01T00:00:02.000Z", message: user("two") }]);
    const forked = SessionManager.forkFrom(old, home, folder());
    const stored = lines(forked.getSessionFile());
    return { version: stored[0].version, ids: stored.slice(1).map((line) => line.id ?? null), told: told(forked) };
  },
  role_is_renamed() {
    const file = write([header({ version: 2 }), entry("message", "a", null, { message: { role: "hookMessage",
      customType: "x", content: "hooked", display: true, timestamp: 1 } })]);
    SessionManager.open(file);
    const stored = lines(file);
    const newer = write([header(), entry("message", "a", null, { message: { role: "hookMessage", content: "hooked", timestamp: 1 } })]);
    return { version: stored[0].version, type: stored[1].type, role: stored[1].message.role, told: told(SessionManager.open(file)),
      unmigrated: told(SessionManager.open(newer)) };
  },
  header_stands_apart() {
    const file = write(["", "{torn", header(), entry("message", "a", null, { message: user("one") })]);
    const manager = SessionManager.open(file);
    return { header: manager.getHeader(), entries: manager.getEntries().map((e) => e.type), inTree: manager.getTree().length };
  },
  parent_session() {
    const dir = folder();
    const manager = SessionManager.create(home, dir);
    manager.appendMessage(user("one"));
    const second = manager.appendMessage(reply("a"));
    const original = manager.getSessionFile();
    const parent = lines(original);
    manager.createBranchedSession(second);
    const fork = lines(manager.getSessionFile());
    const fresh = SessionManager.create(home, dir);
    return { parentSession: fork[0].parentSession === original, newHasNone: fresh.getHeader().parentSession === undefined,
      sameIds: JSON.stringify(parent.slice(1)) === JSON.stringify(fork.slice(1)) };
  },
  fork_holds_a_summary() {
    const manager = SessionManager.create(home, folder());
    const first = manager.appendMessage(user("one"));
    manager.appendMessage(reply("left"));
    manager.branchWithSummary(first, "what was tried on the other branch");
    const leaf = manager.appendMessage(reply("b"));
    manager.createBranchedSession(leaf);
    return { types: lines(manager.getSessionFile()).map((line) => line.type), told: told(manager) };
  },
  entry_types() {
    const manager = SessionManager.create(home, folder());
    manager.appendModelChange("birch", "birch-1");
    manager.appendThinkingLevelChange("high");
    const first = manager.appendMessage(user("one"));
    manager.appendMessage(reply("a"));
    manager.appendUsage("made_up_kind", "birch", "birch-1", USAGE);
    manager.appendCustomEntry("x", { count: 42 });
    manager.appendCustomMessageEntry("x", "injected", true);
    manager.appendContextEdit(first, { content: "ONE" });
    manager.appendLabelChange(first, "mark");
    manager.appendSessionInfo("a name");
    manager.appendCompaction("summary", first, 10);
    manager.branchWithSummary(first, "elsewhere");
    const stored = lines(manager.getSessionFile());
    return { types: [...new Set(stored.slice(1).map((line) => line.type))].sort(), ids: stored.slice(1).map((line) => line.id),
      keys: Object.fromEntries(stored.slice(1).map((line) => [line.type, Object.keys(line)])) };
  },
  prompt_is_replayed() {
    const system = (more) => ({ role: "system", content: "", timestamp: 1, ...more });
    const manager = SessionManager.inMemory(home);
    manager.appendMessage(system({ sections: { a: "one", b: "two" }, toolsAdded: [{ name: "read", description: "", parameters: {} }] }));
    manager.appendMessage(user("hi"));
    manager.appendMessage(system({ sections: { a: "ONE", b: null }, toolsRemoved: [{ name: "read" }] }));
    const now = getCurrentSystemMessage(manager.buildSessionContext().messages);
    const kept = manager.appendMessage(user("more"));
    manager.appendCompaction("summary", kept, 10);
    const compaction = manager.getEntries().at(-1);
    return { sections: now.sections, tools: now.toolsAdded ?? [], checkpoint: compaction.systemMessage?.sections ?? null,
      first: manager.buildSessionContext().messages[0] };
  },
  model_of_a_context() {
    const manager = SessionManager.inMemory(home);
    manager.appendModelChange("birch", "birch-1");
    manager.appendMessage(user("hi"));
    manager.appendMessage(reply("a", "birch-other"));
    return manager.buildSessionContext().model;
  },
  usage_is_not_context() {
    const file = write([header(), entry("message", "a", null, { message: user("one") }),
      entry("usage", "b", "a", { kind: "nobody_knows_this", provider: "p", model: "m", usage: USAGE })]);
    const manager = SessionManager.open(file);
    return { told: told(manager), entries: manager.getEntries().length };
  },
  compaction_without_kept_id() {
    const at = (more) => told(SessionManager.open(write([header(), entry("message", "a", null, { message: user("one") }),
      entry("message", "b", "a", { message: user("two") }), entry("compaction", "c", "b", { summary: "S", tokensBefore: 1, ...more })])));
    return { kept: at({ firstKeptEntryId: "b" }).length, missing: at({}).length, own: at({ firstKeptEntryId: "c" }).length };
  },
  edit_is_appended() {
    const manager = SessionManager.create(home, folder());
    manager.appendMessage(user("one"));
    const second = manager.appendMessage(reply("a"));
    const file = manager.getSessionFile();
    const before = fs.readFileSync(file);
    manager.appendContextEdit(second, { content: "short" });
    const after = fs.readFileSync(file);
    const content = manager.buildSessionContext().messages[1].content;
    manager.branch(second);
    return { prefixKept: after.subarray(0, before.length).equals(before), content, original: manager.buildSessionContext().messages[1].content,
      entry: manager.getEntry(second).message.content };
  },
  edit_targets() {
    const manager = SessionManager.inMemory(home);
    const system = manager.appendMessage({ role: "system", content: "base", timestamp: 1 });
    const first = manager.appendMessage(user("one"));
    const custom = manager.appendCustomMessageEntry("x", "injected", true);
    const state = manager.appendCustomEntry("x", {});
    const shell = manager.appendMessage({ role: "bashExecution", command: "ls", output: "o", exitCode: 0, cancelled: false,
      truncated: false, timestamp: 1 });
    const writer = Object.fromEntries(Object.entries({ system, user: first, custom_message: custom, custom: state, bash: shell })
      .map(([name, id]) => [name, "error" in attempt(() => manager.appendContextEdit(id, null)) ? "refused" : "accepted"]));
    const omitted = (target, id) => told(SessionManager.open(write([header(), ...target,
      entry("message", "z", target.at(-1).id, { message: user("end") }),
      entry("context_edit", "e", "z", { targetId: id, replacement: null })])));
    const reader = {
      system: omitted([entry("message", "t", null, { message: { role: "system", content: "base", timestamp: 1 } })], "t"),
      bash: omitted([entry("message", "t", null, { message: { role: "bashExecution", command: "ls", output: "o", exitCode: 0,
        cancelled: false, truncated: false, timestamp: 1 } })], "t"),
      branch_summary: omitted([entry("message", "a", null, { message: user("a") }),
        entry("branch_summary", "t", "a", { fromId: "a", summary: "S" })], "t"),
      compaction: omitted([entry("message", "a", null, { message: user("a") }),
        entry("compaction", "t", "a", { summary: "S", firstKeptEntryId: "t", tokensBefore: 1 })], "t"),
    };
    return { writer, reader };
  },
  custom_is_not_context() {
    const manager = SessionManager.inMemory(home);
    manager.appendMessage(user("one"));
    manager.appendCustomEntry("counter", { count: "forty-two" });
    manager.appendCustomMessageEntry("note", "injected", true);
    return told(manager);
  },
  documents() {
    const read = (name) => fs.readFileSync(path.join(packages, "pi-coding-agent", "docs", name), "utf8");
    return { "session-format.md": read("session-format.md"), "sessions.md": read("sessions.md"),
      version: JSON.parse(fs.readFileSync(path.join(packages, "pi-coding-agent", "package.json"), "utf8")).version };
  },
};

const answers = {};
for (const [name, ask] of Object.entries(claims)) answers[name] = attempt(ask);
process.stdout.write(JSON.stringify(answers));
