// The shell of every page of the documentation: navigation, who is signed in, one script.

export interface DocsPage {
  readonly title: string;
  /** Pages beside this one, by their paths. */
  readonly pages: Readonly<Record<string, string>>;
  readonly path: string;
  /** Style sheets and scripts, by path. The last one is a module. */
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** What the script is to know. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** HTML of a page. Scripts and styles are files, so that no inline code has to be allowed. */
export function docsPage({ title, pages, path, styles, scripts, config }: DocsPage): string {
  const links = Object.entries(pages).map(([at, name]) =>
    at === path ? `<b>${escapeHtml(name)}</b>` : `<a href="${at}">${escapeHtml(name)}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
${styles.map((style) => `<link rel="stylesheet" href="${style}">`).join("\n")}
<header>
  <strong>${escapeHtml(title)}</strong>
  <nav>${links.join(" ")}</nav>
  <form id="session" hidden></form>
</header>
<main id="main"></main>
<script type="application/json" id="config">${JSON.stringify(config).replaceAll("<", "\\u003c")}</script>
${scripts.map((script, index) => `<script${index === scripts.length - 1 ? ' type="module"' : ""} src="${script}"></script>`).join("\n")}
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
