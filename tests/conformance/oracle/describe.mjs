// What the reference makes of one session file, stage by stage, as one JSON value.
//
// Everything told here is the answer of a function of the reference; this module only asks. What it
// decides itself: walks that would never end are not begun, and times the reference would invent
// for stand-in results are 0.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const modules = path.join(import.meta.dirname, "node_modules", "@earendil-works");
const load = (file) => import(pathToFileURL(path.join(modules, file)).href);

const home = fs.mkdtempSync(path.join(os.tmpdir(), "oracle-"));
process.on("exit", () => fs.rmSync(home, { recursive: true, force: true }));
process.env.HOME = home;
process.env.PI_CODING_AGENT_DIR = path.join(home, "agent");
process.env.TZ = "UTC";
process.chdir(home);

const { SessionManager, buildContextEntries, buildSessionProjection } = await load(
  "pi-coding-agent/dist/core/session-manager.js",
);
const { convertToLlm } = await load("pi-coding-agent/dist/core/messages.js");
const { transformMessages } = await load("pi-ai/dist/api/transform-messages.js");
const { getCurrentSystemMessage } = await load("pi-ai/dist/utils/transcript.js");
const STREAMS = {
  "openai-completions": (await load("pi-ai/dist/api/openai-completions.js")).stream,
  "anthropic-messages": (await load("pi-ai/dist/api/anthropic-messages.js")).stream,
  "openai-responses": (await load("pi-ai/dist/api/openai-responses.js")).stream,
};

const both = ["text", "image"];
export const TARGETS = {
  chat: { api: "openai-completions", provider: "mockchat", id: "chat-1", input: both },
  "chat-openai": { api: "openai-completions", provider: "openai", id: "gpt-x", input: ["text"] },
  anthropic: { api: "anthropic-messages", provider: "mockanth", id: "anth-1", input: both },
  responses: { api: "openai-responses", provider: "mockresp", id: "resp-1", input: both },
  "responses-openai": { api: "openai-responses", provider: "openai", id: "gpt-y", input: both },
};

const json = (value) => JSON.parse(JSON.stringify(value ?? null));
const fault = (error) => ({ name: error?.name ?? "Error", message: String(error?.message ?? error) });

function openInTemporaryFile(bytes) {
  const folder = fs.mkdtempSync(path.join(home, "case-"));
  try {
    const file = path.join(folder, "session.jsonl");
    fs.writeFileSync(file, bytes);
    return SessionManager.open(file, folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The normalised form of a tool-call id, asked of the API itself on a transcript of one call. */
async function normalisedId(target, source, id) {
  const model = { ...target, name: target.id, baseUrl: "http://127.0.0.1:9/v1", reasoning: false,
    contextWindow: 100000, maxTokens: 1000, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } };
  const reply = { role: "assistant", api: source.api, provider: source.provider, model: source.model,
    content: [{ type: "toolCall", id, name: "t", arguments: {} }], stopReason: "toolUse", timestamp: 0,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 } };
  const set = Map.prototype.set;
  let result = id;
  // The reference notes a changed id in a map from the old to the new one.
  Map.prototype.set = function (key, value) {
    if (key === id && typeof value === "string") result = value;
    return set.call(this, key, value);
  };
  try {
    const options = { apiKey: "none", onPayload: () => { throw new Error("enough"); } };
    for await (const _ of STREAMS[target.api](model, { messages: [reply] }, options)) void _;
  } catch {
    // The request is stopped once it is built.
  } finally {
    Map.prototype.set = set;
  }
  return result;
}

const idCache = new Map();

async function normaliserFor(target, messages) {
  const table = new Map();
  for (const message of messages) {
    if (message?.role !== "assistant" || !Array.isArray(message.content)) continue;
    const own = message.api === target.api && message.provider === target.provider && message.model === target.id;
    for (const block of own ? [] : message.content) {
      if (block?.type !== "toolCall" || typeof block.id !== "string") continue;
      const key = JSON.stringify([target.api, target.provider, message.api, message.provider, message.model === target.id, block.id]);
      if (!idCache.has(key)) idCache.set(key, await normalisedId(target, message, block.id));
      table.set(JSON.stringify([block.id, message.api, message.provider]), idCache.get(key));
    }
  }
  return (id, _model, source) => table.get(JSON.stringify([id, source.api, source.provider])) ?? id;
}

async function replay(target, messages) {
  const normalise = await normaliserFor(target, messages);
  const now = Date.now;
  Date.now = () => 0;
  try {
    return transformMessages(messages, target, normalise);
  } finally {
    Date.now = now;
  }
}

class Pool {
  values = [];
  places = new Map();
  place(value) {
    const text = JSON.stringify(value) ?? "null";
    if (!this.places.has(text)) {
      this.places.set(text, this.values.length);
      this.values.push(JSON.parse(text));
    }
    return this.places.get(text);
  }
  all(values) {
    return values.map((value) => this.place(value));
  }
}

function walkEnds(leaf, byId) {
  const seen = new Set();
  for (let entry = leaf; entry; entry = entry.parentId ? byId.get(entry.parentId) : undefined) {
    if (seen.has(entry)) return false;
    seen.add(entry);
  }
  return true;
}

/** Whether the tree would run in a circle: with ids that occur twice it can even where no walk does. */
function treeLoops(entries, byId) {
  const parents = new Map();
  for (const entry of entries) {
    const up = entry.parentId === entry.id ? undefined : byId.get(entry.parentId);
    if (up !== undefined) parents.set(entry.id, [...(parents.get(entry.id) ?? []), up.id]);
  }
  const done = new Set();
  for (const start of parents.keys()) {
    const onTrail = new Set();
    const stack = [[start, false]];
    while (stack.length > 0) {
      const [id, leaving] = stack.pop();
      if (leaving) {
        onTrail.delete(id);
        done.add(id);
      } else if (onTrail.has(id)) {
        return true;
      } else if (!done.has(id)) {
        onTrail.add(id);
        stack.push([id, true], ...(parents.get(id) ?? []).map((up) => [up, false]));
      }
    }
  }
  return false;
}

async function describeLeaf(id, entries, byId, pool) {
  const result = { leaf: id ?? null };
  const entry = id ? byId.get(id) ?? entries.at(-1) : entries.at(-1);
  if (!walkEnds(entry, byId)) return { ...result, cycle: true };
  const index = new Map(entries.map((one, place) => [one, place]));
  let stage = "branch";
  try {
    const branch = [];
    for (let one = entry; one; one = one.parentId ? byId.get(one.parentId) : undefined) branch.unshift(one);
    result.branch = branch.map((one) => index.get(one));
    stage = "contextEntries";
    result.contextEntries = buildContextEntries(entries, id, byId).map((one) => index.get(one));
    stage = "projection";
    const projection = buildSessionProjection(entries, id, byId);
    result.projection = projection.entries.map((one) => [index.get(one.sourceEntry), pool.all(one.messages)]);
    result.messages = pool.all(projection.messages);
    result.model = json(projection.model);
    result.thinkingLevel = json(projection.thinkingLevel);
    stage = "prompt";
    const prompt = getCurrentSystemMessage(projection.messages);
    result.prompt = prompt ? pool.place(prompt) : null;
    stage = "llm";
    const llm = convertToLlm(projection.messages);
    result.llm = pool.all(llm);
    stage = "replay";
    result.replay = {};
    for (const [name, target] of Object.entries(TARGETS)) result.replay[name] = pool.all(await replay(target, llm));
  } catch (error) {
    result.error = { stage, ...fault(error) };
  }
  return result;
}

async function describeResponse(entry, place, entries, byId, pool) {
  const { api, provider, model } = entry.message;
  const result = { entry: place, leaf: json(entry.parentId || null) };
  if (!(api in STREAMS)) return { ...result, unknownApi: true };
  const parent = entry.parentId ? byId.get(entry.parentId) : undefined;
  if (!walkEnds(entry, byId)) return { ...result, cycle: true };
  try {
    const { messages } = buildSessionProjection(entries, parent ? parent.id : null, byId);
    result.replay = pool.all(await replay({ api, provider, id: model, input: both }, convertToLlm(messages)));
  } catch (error) {
    result.error = fault(error);
  }
  return result;
}

function describeTree(manager, entries) {
  const index = new Map(entries.map((entry, place) => [entry, place]));
  const roots = manager.getTree();
  const children = {};
  const stack = [...roots];
  const seen = new Set();
  while (stack.length > 0) {
    const node = stack.pop();
    if (seen.has(node)) continue;
    seen.add(node);
    if (node.children.length > 0) children[index.get(node.entry)] = node.children.map((child) => index.get(child.entry));
    stack.push(...node.children);
  }
  return { roots: roots.map((node) => index.get(node.entry)), children };
}

const attempt = (ask) => {
  try {
    return json(ask());
  } catch (error) {
    return { error: fault(error) };
  }
};

/** Everything the reference makes of a session file given as bytes; `leaves` false: responses alone. */
export async function describe(bytes, leaves = true) {
  // Of an empty file the reference makes a new session, with an id and a time of its own.
  if (bytes.length === 0) return { error: null, invented: true };
  let manager;
  try {
    manager = openInTemporaryFile(bytes);
  } catch (error) {
    return { error: { name: error.name, message: String(error.message).replaceAll(home, "").replace(/: .*$/s, "") } };
  }
  const entries = manager.getEntries();
  const ids = new Map(entries.map((entry) => [entry.id, entry]));
  const pool = new Pool();
  const loop = treeLoops(entries, ids);
  const result = {
    error: null,
    sessionId: manager.getSessionId(),
    header: json(manager.getHeader()),
    entries: json(entries),
    leafId: json(manager.getLeafId()),
    labels: Object.fromEntries([...ids.keys()].filter((id) => manager.getLabel(id) !== undefined).map((id) => [id, manager.getLabel(id)])),
    name: attempt(() => manager.getSessionName() ?? null),
    tree: loop && ids.size < entries.length ? null : attempt(() => describeTree(manager, entries)),
    leaves: [],
    responses: [],
  };
  for (const id of leaves ? ids.keys() : []) if (id !== undefined && id !== null) result.leaves.push(await describeLeaf(id, entries, ids, pool));
  for (const [place, entry] of entries.entries()) {
    if (entry?.type === "message" && entry.message?.role === "assistant") {
      result.responses.push(await describeResponse(entry, place, entries, ids, pool));
    }
  }
  result.pool = pool.values;
  return result;
}
