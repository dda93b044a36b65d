// The reference's own work, as a whole process: open a session and build its context.
//   node reference.mjs FILE     (give it a copy: opening can rewrite a file)
import path from "node:path";
import { pathToFileURL } from "node:url";

const modules = path.join(import.meta.dirname, "..", "tests", "conformance", "oracle", "node_modules");
const file = path.join(modules, "@earendil-works", "pi-coding-agent", "dist", "core", "session-manager.js");
const { SessionManager } = await import(pathToFileURL(file).href);
const context = SessionManager.open(process.argv[2]).buildSessionContext();
process.stdout.write(`${JSON.stringify(context)}\n`);
