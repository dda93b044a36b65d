// What the reference lists of a directory of sessions: node list.mjs DIR CWD
import path from "node:path";
import { pathToFileURL } from "node:url";

const file = path.join(import.meta.dirname, "..", "conformance", "oracle", "node_modules", "@earendil-works",
  "pi-coding-agent", "dist", "core", "session-manager.js");
const { SessionManager } = await import(pathToFileURL(file).href);
const [dir, cwd] = process.argv.slice(2);
const time = (date) => (Number.isNaN(date.getTime()) ? null : date.toISOString());
const rows = (infos) => infos.map((info) => ({
  path: info.path,
  id: info.id,
  cwd: info.cwd || null,
  name: info.name ?? null,
  parentSession: info.parentSessionPath ?? null,
  created: time(info.created),
  modified: time(info.modified),
  messageCount: info.messageCount,
  firstMessage: info.firstMessage,
}));
process.stdout.write(JSON.stringify({
  all: rows(await SessionManager.listAll(dir)),
  here: rows(await SessionManager.list(cwd, dir)),
}));
