// Writes what follows from others: docs/errors.md, docs/diagnostics.md, docs/functions.md, the routes in docs/registry.md, the
// charts of docs/bench.md, llms.txt.
// A test holds them up to date.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { drawCharts } from "./charts.mjs";
import { functionsPage } from "./functions.mjs";
import { root } from "./prepare.mjs";

const { errors } = await import(`${root}/dist/runtime/contract/errors.js`);
const { catalogue } = await import(`${root}/dist/generator/families/catalogue.js`);
const { verbs } = await import(`${root}/dist/generator/families/documents/verbs/index.js`);
const { nounOf } = await import(`${root}/dist/generator/model/nouns.js`);

export function errorsPage() {
  const rows = Object.entries(errors).map(
    ([code, { kind, status, detail, retryable }]) =>
      `| \`${code}\` | ${status} | ${kind} | ${retryable ? "yes" : ""} | ${detail} |`,
  );
  return `# Errors

Every error has the body \`{detail, code, kind, context}\` and the header \`X-Error-Code\`.

- From status 500 up, \`detail\` is generic and \`context\` is empty.
- Validation errors have \`context.errors: [{path, keyword, message}]\`, which never contain values.
- "Retry unchanged" means that the same request may succeed later.
- A service may have [errors](handlers.md#errors) and [an envelope](registry.md#an-envelope-of-your-own) of its own.

| code | status | kind | retry unchanged | detail |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

export function diagnosticsPage() {
  const parts = Object.entries(catalogue)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([code, { title, cause, fix }]) => `## ${code} ${title}\n\n${cause}\n\n${fix}\n`);
  return `# Diagnostics\n\nWhat \`opwright check\` and \`generate\` can report: for each code the cause, then what to do. \`opwright explain CODE\` shows the same.\n\n${parts.join("\n")}`;
}

/** docs/registry.md with the routes of documents between its two marks, as the verbs say them. */
export function registryPage() {
  const rows = verbs.map(({ name, summary, rest, rpc = rest, status, when }) => {
    const needs = when.says === null ? "" : `\`${when.says}\``;
    const answers = status === undefined ? "" : ` (${status})`;
    const cells = [rest, rpc].map(([method, path]) => `${method} \`${path}\``);
    return `| \`${name}\` | ${cells.join(" | ")} | ${needs} | ${summary(nounOf("tasks"))}${answers} |`;
  });
  const table = `| operation | style \`rest\` | style \`rpc\` | needs | |\n|---|---|---|---|---|\n${rows.join("\n")}`;
  const [begin, end] = ["<!-- routes of documents -->", "<!-- end of routes -->"];
  const page = readFileSync(`${root}/docs/registry.md`, "utf8");
  const [before, after] = [page.indexOf(begin), page.indexOf(end)];
  if (before === -1 || after === -1)
    throw new Error("docs/registry.md has no place for its routes");
  return `${page.slice(0, before + begin.length)}\n${table}\n${page.slice(after)}`;
}

export { drawCharts, functionsPage };

/** Pages that nobody needs to build a service. */
const optional = ["bench.md", "releases.md"];

/** llms.txt (llmstxt.org): every page with its first sentence, for programs that read documentation. */
export function llmsText() {
  const pages = readdirSync(`${root}/docs`).filter((name) => name.endsWith(".md"));
  const lines = (names) =>
    names.map((name) => {
      const text = readFileSync(`${root}/docs/${name}`, "utf8");
      return `- [${/^# (.*)$/m.exec(text)?.[1]}](docs/${name}): ${firstSentence(text)}`;
    });
  return `# opwright

> A generator for backends: you declare documents, search, files, identity, realtime and webhooks in YAML, and get TypeScript that you review and commit, with OpenAPI and a typed client.

Begin with "Your first service". Projects made by \`opwright init\` have the rules for coding agents in AGENTS.md.

## Docs

${lines(pages.filter((name) => !optional.includes(name))).join("\n")}
- [Security](SECURITY.md): the threat model, and every bound.

## Optional

${lines(optional).join("\n")}
- [Changelog](CHANGELOG.md): what each version changes.
`;
}

/** Of the first paragraph that is neither a picture nor code. */
function firstSentence(text) {
  const paragraphs = text
    .replaceAll(/^```.*?^```$/gms, "")
    .split("\n\n")
    .slice(1);
  const first = paragraphs.find((one) => /^[A-Z\x60]/.test(one.trim())) ?? "";
  const plain = first
    .trim()
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll("\n", " ");
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}

if (process.argv[1]?.endsWith("docs.mjs")) {
  writeFileSync(`${root}/docs/functions.md`, functionsPage());
  writeFileSync(`${root}/llms.txt`, llmsText());
  writeFileSync(`${root}/docs/errors.md`, errorsPage());
  writeFileSync(`${root}/docs/diagnostics.md`, diagnosticsPage());
  writeFileSync(`${root}/docs/registry.md`, registryPage());
  for (const [path, chart] of Object.entries(drawCharts())) writeFileSync(`${root}/${path}`, chart);
}
