// Driver extension: lets the recorder do through one command what RPC has no command for, and brings
// its own small tools, so that no description of the harness ends up in a recording.
//
//   /recorder {"op": "navigate", "target": "ID", ...}
//
// Every call ends with a notification "recorder: RESULT" that the recorder waits for.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ownTool } from "./own.js";
import { toolset } from "./tools.js";

const advance = (milliseconds) => globalThis.recorderClock?.advance(milliseconds);

/** Sections the scenario wants in the prompt; Pi writes only what changed. */
const sections = {};

function run(command, cwd, signal) {
  return new Promise((done) => {
    execFile("/bin/sh", ["-c", command], { cwd, signal }, (error, stdout, stderr) => {
      const text = `${stdout}${stderr}`;
      const code = error ? (error.code ?? 1) : 0;
      done({ text: code === 0 ? text || "(no output)" : `${text}exit code ${code}`, failed: code !== 0 });
    });
  });
}

const actions = {
  async read({ path }, cwd) {
    if (path.endsWith(".png")) {
      const data = (await readFile(resolve(cwd, path))).toString("base64");
      return [
        { type: "text", text: `Image ${path}` },
        { type: "image", data, mimeType: "image/png" },
      ];
    }
    return await readFile(resolve(cwd, path), "utf8");
  },
  async write({ path, content }, cwd) {
    await writeFile(resolve(cwd, path), content, "utf8");
    return `Wrote ${content.length} characters to ${path}.`;
  },
  async edit({ path, oldText, newText }, cwd) {
    const file = resolve(cwd, path);
    const before = await readFile(file, "utf8");
    if (before.split(oldText).length !== 2) throw new Error(`oldText must occur exactly once in ${path}.`);
    await writeFile(file, before.replace(oldText, () => newText), "utf8");
    return `Replaced one passage in ${path}.`;
  },
  async bash({ command }, cwd, signal) {
    const result = await run(command, cwd, signal);
    if (result.failed) throw new Error(result.text);
    return result.text;
  },
  async almanac({ variety }) {
    const known = {
      Boskoop: "ripe in early October, keeps until the end of March",
      Cox: "ripe in mid September, keeps until December",
    };
    return `${variety}: ${known[variety] ?? "not in the almanac"}.`;
  },
  async echo(args) {
    return JSON.stringify(args);
  },
};

function asTool(declaration) {
  const { action, took, ...definition } = declaration;
  return {
    label: definition.name,
    ...definition,
    async execute(id, params, signal, onUpdate, ctx) {
      let content;
      try {
        if (action === "own") return await (await ownTool(definition.name, ctx.cwd)).execute(id, params, signal, onUpdate, ctx);
        content = await actions[action](params, ctx.cwd, signal);
      } finally {
        advance(took);
      }
      return { content: typeof content === "string" ? [{ type: "text", text: content }] : content, details: undefined };
    },
  };
}

function operations(pi, declared) {
  return {
    navigate: async ({ target, ...options }, ctx) => void (await ctx.navigateTree(target, options)),
    edit: async ({ target, replacement }, ctx) => ctx.sessionManager.appendContextEdit(target, replacement),
    label: async ({ target, label }) => pi.setLabel(target, label),
    state: async ({ kind, data }) => pi.appendEntry(kind, data),
    usage: async ({ kind, provider, model, usage, note }, ctx) =>
      ctx.sessionManager.appendUsage(kind, provider, model, usage, note),
    message: async ({ kind, content, display = true, details }) =>
      pi.sendMessage({ customType: kind, content, display, details }),
    sections: async ({ values }) => {
      for (const [name, text] of Object.entries(values)) {
        if (text === null) delete sections[name];
        else sections[name] = text;
      }
    },
    tools: async ({ names }) => pi.setActiveTools(names),
    redefine: async ({ name, change }) => pi.registerTool(asTool({ ...declared.get(name), ...change })),
    wait: async ({ milliseconds }) => advance(milliseconds),
  };
}

export default function driver(pi) {
  const declared = new Map(toolset(process.env.RECORDER_TOOLS).map((tool) => [tool.name, tool]));
  Object.assign(sections, JSON.parse(process.env.RECORDER_SECTIONS ?? "{}"));
  for (const tool of declared.values()) pi.registerTool(asTool(tool));
  const known = operations(pi, declared);

  pi.on("before_agent_start", (event) => {
    // Before 0.86 a prompt had no sections.
    if (!event.systemPromptOptions?.sections) return;
    for (const name of Object.keys(event.systemPromptOptions.sections)) delete event.systemPromptOptions.sections[name];
    Object.assign(event.systemPromptOptions.sections, sections);
  });
  pi.on("before_provider_request", () => advance(1));
  pi.on("after_provider_response", (event) => advance(Number(event.headers["x-reply-took"] ?? 900)));

  pi.registerCommand("recorder", {
    description: "Run one step of a recording",
    handler: async (args, ctx) => {
      const { op, ...options } = JSON.parse(args);
      try {
        await known[op](options, ctx);
        ctx.ui.notify("recorder: ok", "info");
      } catch (error) {
        ctx.ui.notify(`recorder: ${error.message}`, "error");
      }
    },
  });
}
