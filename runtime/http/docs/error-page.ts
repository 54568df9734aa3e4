// The page that a browser shows for an error, in development: what the envelope says, and where to
// read more.
import { toEnvelope } from "../../contract/errors.js";
import type { PrintError } from "../../operations/error-envelope.js";
import { escapeHtml, htmlDocument } from "./page.js";

/** Makes the pages of a service's errors. */
export function errorPageOf(title: string): PrintError {
  return (error) => {
    const { code, detail, context } = toEnvelope(error);
    const more =
      Object.keys(context).length === 0
        ? ""
        : `<div class="code-block"><pre>${escapeHtml(JSON.stringify(context, null, 2))}</pre></div>`;
    return htmlDocument(
      `${error.status} ${code} · ${title}`,
      "/docs",
      "",
      `<header class="top"><a class="brand" href="/docs">${escapeHtml(title)}</a></header>
<main class="page stack">
<p><span class="badge bad">${error.status}</span></p>
<h1>${escapeHtml(detail)}</h1>
<p><code>${escapeHtml(code)}</code></p>
${more}
<p class="row"><a href="/docs">Reference</a><a href="/docs/operations">Operations</a></p>
</main>`,
    );
  };
}
