// Writes the pages that follow from tables: docs/errors.md and docs/diagnostics.md. A test holds them up to date.
import { writeFileSync } from "node:fs";
import { root } from "./prepare.mjs";

const { errors } = await import(`${root}/dist/runtime/contract/errors.js`);
const { catalogue } = await import(`${root}/dist/generator/catalogue.js`);

export function errorsPage() {
  const rows = Object.entries(errors).map(
    ([code, { kind, status, detail, retryable }]) =>
      `| \`${code}\` | ${status} | ${kind} | ${retryable ? "yes" : ""} | ${detail} |`,
  );
  return `# Errors

Every fault is answered with \`{detail, code, kind, context}\` and the header \`X-Error-Code\`. From status 500 up, detail is generic and context empty. A service may have [an envelope of its own](registry.md#an-envelope-of-your-own). Validation faults have \`context.errors: [{path, keyword, message}]\`, never values.

| code | status | kind | retry unchanged | detail |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

export function diagnosticsPage() {
  const parts = Object.entries(catalogue).map(
    ([code, { title, cause, fix }]) => `## ${code} ${title}\n\n${cause}\n\n${fix}\n`,
  );
  return `# Diagnostics\n\nWhat \`opwright check\` and \`generate\` can find; \`opwright explain CODE\` shows the same.\n\n${parts.join("\n")}`;
}

if (process.argv[1]?.endsWith("docs.mjs")) {
  writeFileSync(`${root}/docs/errors.md`, errorsPage());
  writeFileSync(`${root}/docs/diagnostics.md`, diagnosticsPage());
}
