// Pi's own tools, for recordings that need results in the form Pi gives them: exit codes, cut output.

import { createBashTool, createEditTool, createReadTool, createWriteTool } from "@earendil-works/pi-coding-agent";

const makers = { bash: createBashTool, edit: createEditTool, read: createReadTool, write: createWriteTool };

/** The tool of that name, working in a directory. */
export function ownTool(name, cwd) {
  return makers[name](cwd);
}
