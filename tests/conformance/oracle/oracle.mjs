// A long-lived oracle: one JSON request a line on standard input, one JSON answer a line.
// Request: {"id", "bytes": base64 of a session file, "leaves": false for the responses alone}. Answer: {"id", "result"}.
import { createInterface } from "node:readline";
import { describe } from "./describe.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  const { id, bytes, leaves } = JSON.parse(line);
  let result;
  try {
    result = await describe(Buffer.from(bytes, "base64"), leaves);
  } catch (error) {
    result = { error: { name: "OracleError", message: String(error?.stack ?? error) } };
  }
  process.stdout.write(`${JSON.stringify({ id, result })}\n`);
}
