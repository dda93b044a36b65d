// Appends messages with the reference and prints how many a second: node writing.mjs PACKAGE FOLDER COUNT
import path from "node:path";
import { pathToFileURL } from "node:url";

const [root, folder, count] = process.argv.slice(2);
const file = path.join(root, "node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js");
const { SessionManager } = await import(pathToFileURL(file).href);
const manager = SessionManager.create("/home/dev/orchard", folder);
manager.appendMessage({ role: "user", content: "Name an apple.", timestamp: 1 });

const message = (number) => ({
  role: number % 2 ? "user" : "assistant",
  content: [{ type: "text", text: `An ordinary sentence of a conversation about apples and how long they keep, number ${number}` }],
  timestamp: 1_790_000_000_000 + number,
});

for (let number = 0; number < 2000; number += 1) manager.appendMessage(message(number));
const start = performance.now();
for (let number = 0; number < Number(count); number += 1) manager.appendMessage(message(number));
console.log(Number(count) / ((performance.now() - start) / 1000));
