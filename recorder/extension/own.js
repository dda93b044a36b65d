// Pi's own tools, for recordings that need results in the form Pi gives them: exit codes, cut output.

const makers = { bash: "createBashTool", edit: "createEditTool", read: "createReadTool", write: "createWriteTool" };

/** The package that runs us: before 0.74 it had another name. */
const pi = () => import("@earendil-works/pi-coding-agent").catch(() => import("@mariozechner/pi-coding-agent"));

/** The tool of that name, working in a directory. */
export async function ownTool(name, cwd) {
  return (await pi())[makers[name]](cwd);
}
