// Branch exports of the real Pi: one JSON request a line, one JSON answer a line.
// Request: {"bytes": base64 of a session file, "leaves": [id, ...]}; no leaf means the file's own.
// Answer: [text of the export, or null where the reference fails, ...].
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const dist = path.join(process.argv[2], "node_modules/@earendil-works/pi-coding-agent/dist/core");
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { SessionManager } = await load("session-manager.js");
const { serializeSessionBranch } = await load("session-export.js");
const home = fs.mkdtempSync(path.join(os.tmpdir(), "branch-"));
process.on("exit", () => fs.rmSync(home, { recursive: true, force: true }));

function exported(file, leaf) {
  try {
    const manager = SessionManager.open(file, home);
    if (leaf !== null) manager.branch(leaf);
    return serializeSessionBranch(manager);
  } catch {
    return null;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { bytes, leaves } = JSON.parse(line);
  const file = path.join(home, "session.jsonl");
  const answers = leaves.map((leaf) => {
    fs.writeFileSync(file, Buffer.from(bytes, "base64"));
    return exported(file, leaf);
  });
  process.stdout.write(`${JSON.stringify(answers)}\n`);
}
