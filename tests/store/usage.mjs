// What the reference's own functions add up for session files: one JSON object a line, by path.
import path from "node:path";
import { pathToFileURL } from "node:url";

const core = path.join(import.meta.dirname, "..", "conformance", "oracle", "node_modules", "@earendil-works",
  "pi-coding-agent", "dist", "core");
const load = (file) => import(pathToFileURL(path.join(core, file)).href);
const { loadEntriesFromFile } = await load("session-manager.js");
const { computeCacheWaste } = await load("cache-stats.js");
const { addUsageToTotals, createUsageTotals } = await load("usage-totals.js");

for (const file of process.argv.slice(2)) {
  const totals = createUsageTotals();
  let error = null;
  let waste = null;
  try {
    const entries = loadEntriesFromFile(file);
    // Without a price list, what was not read from the cache would have been free there.
    waste = computeCacheWaste(entries, { getModel: () => undefined });
    for (const entry of entries) {
      if (entry.type === "usage") addUsageToTotals(totals, entry.usage);
      if ((entry.type === "branch_summary" || entry.type === "compaction") && entry.usage) {
        addUsageToTotals(totals, entry.usage);
      }
      if (entry.type !== "message") continue;
      const { role, usage } = entry.message;
      if (role === "assistant" || (role === "toolResult" && usage)) addUsageToTotals(totals, usage);
    }
  } catch (failure) {
    error = String(failure.message ?? failure);
  }
  process.stdout.write(`${JSON.stringify({ file, totals, waste, error })}\n`);
}
