// Lets the reference open session files, which migrates old ones in place: node upgrading.mjs PACKAGE FILE...
// Prints seconds and peak memory in bytes. A file on which it fails stays as it is.
import path from "node:path";
import { pathToFileURL } from "node:url";

const [root, ...files] = process.argv.slice(2);
const module = path.join(root, "node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js");
const { SessionManager } = await import(pathToFileURL(module).href);
const start = performance.now();
for (const file of files) {
  try {
    SessionManager.open(file);
  } catch (error) {
    console.error(`${file}: ${error.message}`);
  }
}
console.log(JSON.stringify([(performance.now() - start) / 1000, process.resourceUsage().maxRSS * 1024]));
