// The tools of the recordings. "action" says which function of the driver does the work, "took" how
// long it lasts on the session's clock; the rest is what the model is told.

const text = (description) => ({ type: "string", description });
const object = (properties, required = Object.keys(properties)) => ({ type: "object", properties, required });

const read = {
  name: "read",
  description: "Read a file of the project.",
  parameters: object({ path: text("Path of the file, relative to the project") }),
  action: "read",
  took: 6,
};
const write = {
  name: "write",
  description: "Write a whole file, replacing what was there.",
  parameters: object({ path: text("Path of the file"), content: text("The new content") }),
  action: "write",
  took: 9,
};
const edit = {
  name: "edit",
  description: "Replace one passage of a file. The old text must occur exactly once.",
  parameters: object({
    path: text("Path of the file"),
    oldText: text("The passage as it is now"),
    newText: text("The passage as it should be"),
  }),
  action: "edit",
  took: 11,
};
const bash = {
  name: "bash",
  description: "Run a shell command in the project and return its output.",
  parameters: object({ command: text("The command") }),
  action: "bash",
  took: 180,
};
const weather = {
  name: "weather",
  description: "Forecast for the orchard.",
  parameters: object({ days: { type: "integer", description: "How many days ahead" } }),
  action: "echo",
  took: 25,
  defaultActive: false,
};
const almanac = {
  name: "almanac",
  description: "Look up when a variety is ripe and how long it keeps.",
  parameters: object({ variety: text("Name of the variety") }),
  action: "almanac",
  took: 25,
  defaultActive: false,
};

const graft = {
  name: "graft",
  description: "Plan a graft.",
  parameters: object(
    {
      rootstock: { type: "string", enum: ["M9", "M26", "MM111"] },
      scions: { type: "array", items: object({ variety: text("Variety"), count: { type: "integer" } }) },
      note: text("Free text"),
    },
    ["rootstock", "scions"],
  ),
  constrainedSampling: { type: "json_schema", strict: "prefer" },
  action: "echo",
  took: 25,
};
const layout = {
  name: "layout",
  description: "Lay out one row of trees.",
  parameters: object({ input: text("The row, one letter for each tree") }),
  constrainedSampling: { type: "grammar", variants: { openai_lark: 'start: TREE+\nTREE: "a".."z"' } },
  action: "echo",
  took: 25,
};

// Pi's own tools under our words: their results have the form that Pi gives them.
const own = [
  {
    name: "read",
    description: "Read a file, or some of its lines.",
    parameters: object(
      {
        path: text("Path of the file"),
        offset: { type: "integer", description: "First line" },
        limit: { type: "integer", description: "How many lines" },
      },
      ["path"],
    ),
    action: "own",
    took: 6,
  },
  { ...write, action: "own" },
  {
    ...edit,
    parameters: object({
      path: text("Path of the file"),
      edits: {
        type: "array",
        items: object({ oldText: text("The passage as it is now"), newText: text("As it should be") }),
      },
    }),
    action: "own",
  },
  { ...bash, action: "own" },
];

/** The declarations of one named set. */
export function toolset(name) {
  if (name === "strict") return [graft, layout, read];
  if (name === "none") return [];
  if (name === "own") return own;
  return [read, write, edit, bash, weather, almanac];
}
