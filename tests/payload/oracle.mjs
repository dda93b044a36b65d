// The bodies the reference makes: one JSON request a line on standard input, one JSON answer a line.
// Request: {"model", "messages", "options"}. Answer: {"body": text, "tokens": or null} or {"error"}. Nothing is sent.
import { createInterface } from "node:readline";

const ai = new URL("../conformance/oracle/node_modules/@earendil-works/pi-ai/dist/", import.meta.url);
const { estimateContextTokens } = await import(new URL("utils/estimate.js", ai));
const apis = {};
for (const name of ["openai-completions", "openai-responses", "anthropic-messages"]) {
  apis[name] = (await import(new URL(`api/${name}.js`, ai))).streamSimple;
}
delete process.env.PI_CACHE_RETENTION;

function estimate(messages) {
  try {
    return estimateContextTokens({ messages }).tokens;
  } catch {
    return null; // it is not needed of models without a context window
  }
}

function capture({ model, messages, options }) {
  return new Promise((resolve) => {
    const failed = (why) => resolve({ error: String(why) });
    const onPayload = (body) => {
      const { betas, ...sent } = body; // they are sent as a header
      resolve({ body: JSON.stringify(sent), tokens: estimate(messages) });
      throw new Error("captured");
    };
    const offline = () => Promise.reject(new Error("offline"));
    try {
      const stream = apis[model.api](model, { messages }, { apiKey: "sk-none", fetch: offline, onPayload, ...options });
      stream.result().then((reply) => failed(reply.errorMessage), failed);
    } catch (error) {
      failed(error);
    }
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim()) process.stdout.write(`${JSON.stringify(await capture(JSON.parse(line)))}\n`);
}
