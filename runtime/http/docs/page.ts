// The HTML of a page: its script makes the rest in the browser.

export interface DocsPage {
  readonly title: string;
  /** Pages beside this one, by their paths. */
  readonly pages: Readonly<Record<string, string>>;
  readonly path: string;
  /** The path below which its files are. */
  readonly files: string;
  /** The name of its script, a module. */
  readonly script: string;
  /** What the script is to know besides (pages/shell/config.ts). */
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * A document in the design of the pages, whose files are below a path: `head` and `body` are HTML,
 * the title is text.
 */
export function htmlDocument(title: string, files: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files}/style.css">
${head}</head>
<body>
${body}
</body>
</html>
`;
}

/** HTML of a page. Scripts and styles are files, so that no inline code has to be allowed. */
export function docsPage({ title, pages, path, files, script, config }: DocsPage): string {
  const known = JSON.stringify({ title, path, pages, ...config }).replaceAll("<", "\\u003c");
  return htmlDocument(
    `${pages[path] ?? ""} · ${title}`,
    files,
    `<script type="module" src="${files}/${script}.js"></script>\n`,
    `<div id="root"></div>
<noscript>This page is made in the browser. The documents it shows are at /openapi.json.</noscript>
<script type="application/json" id="config">${known}</script>`,
  );
}

/** Text as it stands in HTML, in content and in attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
