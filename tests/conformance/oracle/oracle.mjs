// A long-lived oracle: one JSON request a line on standard input, one JSON answer a line.
// Request: {"id", "bytes": base64 of a session file}. Answer: {"id", "result"}.
import { createInterface } from "node:readline";
import { describe } from "./describe.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  const { id, bytes } = JSON.parse(line);
  let result;
  try {
    result = await describe(Buffer.from(bytes, "base64"));
  } catch (error) {
    result = { error: { name: "OracleError", message: String(error?.stack ?? error) } };
  }
  process.stdout.write(`${JSON.stringify({ id, result })}\n`);
}
