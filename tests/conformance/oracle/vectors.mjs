// Writes what the reference makes of every vector, or with --verify says what is not as it was.
//   node vectors.mjs [--verify]
// vectors/TOPIC/NAME.jsonl -> expected/TOPIC/NAME.json. Ids that the reference invents for version 1
// entries are renamed to #1, #2, ... in the order of the entries.
import fs from "node:fs";
import path from "node:path";
import { describe } from "./describe.mjs";

const root = path.dirname(import.meta.dirname);
const verify = process.argv.includes("--verify");

const list = (folder, suffix) =>
  fs.existsSync(folder)
    ? fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length)).sort()
    : [];

function renameInvented(result, bytes) {
  if (result.error || result.invented) return result;
  const stored = bytes.toString("utf8");
  let text = JSON.stringify(result);
  result.entries.forEach((entry, place) => {
    const id = entry?.id;
    if (typeof id === "string" && /^[0-9a-f]{8}$/.test(id) && !stored.includes(`"${id}"`)) text = text.replaceAll(`"${id}"`, `"#${place + 1}"`);
  });
  return JSON.parse(text);
}

/** JSON with one element of each long list a line, so that differences can be read. */
function print(result) {
  const rows = Object.entries(result).map(([key, value]) => {
    const body = Array.isArray(value) && value.length > 0
      ? `[\n${value.map((item) => JSON.stringify(item)).join(",\n")}\n]`
      : JSON.stringify(value);
    return `${JSON.stringify(key)}: ${body}`;
  });
  return `{\n${rows.join(",\n")}\n}\n`;
}

const names = list(path.join(root, "vectors"), ".jsonl");
const counts = { ok: 0, outdated: 0, missing: 0, unexpected: 0 };
const tell = (state, name) => {
  counts[state] += 1;
  if (state !== "ok") console.log(`${state.padEnd(10)} ${name}`);
};
for (const name of names) {
  const bytes = fs.readFileSync(path.join(root, "vectors", `${name}.jsonl`));
  const file = path.join(root, "expected", `${name}.json`);
  const text = print(renameInvented(await describe(bytes), bytes));
  const before = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
  tell(before === text ? "ok" : before === undefined ? "missing" : "outdated", name);
  if (!verify && before !== text) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}
for (const name of list(path.join(root, "expected"), ".json")) {
  if (names.includes(name)) continue;
  tell("unexpected", name);
  if (!verify) fs.rmSync(path.join(root, "expected", `${name}.json`));
}
console.log(Object.entries(counts).map(([state, count]) => `${count} ${state}`).join(", "));
const bad = counts.outdated + counts.missing + counts.unexpected;
process.exit(names.length === 0 || (verify && bad > 0) ? 1 : 0);
