// A mistake of somebody's first day with opwright, and what a good finding says about it.
import { renderFindings, type Diagnostic } from "../../../generator/cli/findings.js";
import { checkRegistry } from "../../../generator/pipeline/generate.js";
import { writeProject } from "../scenario.js";

export interface Mistake {
  readonly name: string;
  /** Files by path; «marks» surround the member that the finding has to point at. */
  readonly files: Readonly<Record<string, string>>;
  readonly code: string;
  /** What the message has to name: the cause. */
  readonly says: string;
  /** What the advice has to show: the right way, in the words of the format. */
  readonly hint: string;
}

/** A finding as somebody reads it. */
export interface Read {
  readonly code: string;
  /** The text that is marked in the code frame. */
  readonly place: string;
  readonly message: string;
  readonly hint: string;
}

/** What every row has, unless it says otherwise. */
const usual = {
  "registry/service.yaml": `registry: 1
service: {name: shop, title: Shop, version: 1.0.0}
identity: {methods: [token, password]}
policies: {member: [principal]}
`,
  "registry/handlers/tasks.ts": `export const complete = () => ({});
export const find = () => [];
`,
};

/** A mistake in registry/shop.yaml, which begins with its version, or in files of its own. */
export function mistake(
  name: string,
  given: string | Readonly<Record<string, string>>,
  { code, says, hint }: Pick<Mistake, "code" | "says" | "hint">,
): Mistake {
  const files =
    typeof given === "string"
      ? { "registry/shop.yaml": `registry: 1\n${dedented(given)}` }
      : Object.fromEntries(Object.entries(given).map(([path, text]) => [path, dedented(text)]));
  return { name, files: { ...usual, ...files }, code, says, hint };
}

/** A text without its first line break and without what all of its lines are indented by. */
function dedented(text: string): string {
  const lines = text.replace(/^\n/, "").split("\n");
  const widths = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const width = Math.min(...widths, Number.POSITIVE_INFINITY);
  return `${lines
    .map((line) => line.slice(Number.isFinite(width) ? width : 0))
    .join("\n")
    .trimEnd()}\n`;
}

const marks = /[«»]/g;

/** The marked place of a mistake: `file:line:column`, and the text between the marks. */
export function markedPlace({ files }: Mistake): { readonly at: string; readonly text: string } {
  for (const [file, text] of Object.entries(files)) {
    const start = text.indexOf("«");
    if (start < 0) continue;
    const before = text.slice(0, start).split("\n");
    const marked = text.slice(start + 1, text.indexOf("»"));
    return { at: `${file}:${before.length}:${(before.at(-1) ?? "").length + 1}`, text: marked };
  }
  return { at: "", text: "" };
}

/** All findings and warnings of a mistake, as they are printed. */
export async function readingsOf({ files }: Mistake): Promise<readonly Read[]> {
  const plain = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, text.replaceAll(marks, "")]),
  );
  const { root, remove } = writeProject(plain);
  try {
    const { findings, warnings, textOf } = await checkRegistry({
      root,
      paths: { registry: "registry", out: "generated" },
      client: { package: null, queries: false, mocks: false },
    });
    const options = { textOf, isColoured: false, root };
    return [...findings, ...warnings].map((finding) => {
      const report = renderFindings([finding], "json", options);
      const { diagnostics } = JSON.parse(report) as { readonly diagnostics: [Diagnostic] };
      return readingOf(diagnostics[0], renderFindings([finding], "pretty", options), textOf);
    });
  } finally {
    remove();
  }
}

function readingOf(
  { code, message, at }: Diagnostic,
  pretty: string,
  textOf: (file: string) => string | undefined,
): Read {
  const line = textOf(at.file)?.split("\n")[at.line - 1] ?? "";
  const text = line.slice(at.col - 1, at.col - 1 + at.length);
  return {
    code,
    place: `${at.file}:${at.line}:${at.col} ${text}`.trimEnd(),
    message,
    hint: [...pretty.matchAll(/^ {2}((?:did you mean|fix) .*)$/gm)]
      .map(([, hint]) => hint)
      .join(" "),
  };
}

/** What keeps the findings of a mistake from being good; nothing if they are. */
export function lacking(mistake: Mistake, read: readonly Read[]): readonly string[] {
  const { at, text } = markedPlace(mistake);
  const [first] = read;
  if (first === undefined) return ["no finding"];
  return [
    ...(read.length === 1 ? [] : [`${read.length} findings`]),
    ...(first.code === mistake.code ? [] : [`code ${first.code}`]),
    ...(first.place === `${at} ${text}`.trimEnd() ? [] : [`place ${first.place}`]),
    ...(first.message.includes(mistake.says) ? [] : [`message: ${first.message}`]),
    ...(first.hint.includes(mistake.hint) ? [] : [`hint: ${first.hint}`]),
  ];
}
