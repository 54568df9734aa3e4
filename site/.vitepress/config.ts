// The documentation as a site: the same Markdown that GitHub shows, searched in the browser, asking nobody else.
import { cpSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const repository = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Programs read the pages as they are written; llms.txt leads to them. */
function copyMarkdown({ outDir }: { readonly outDir: string }): void {
  const pages = readdirSync(join(repository, "docs")).filter((name) => name.endsWith(".md"));
  const files = ["llms.txt", "SECURITY.md", "CHANGELOG.md", ...pages.map((name) => `docs/${name}`)];
  for (const file of files) cpSync(join(repository, file), join(outDir, file));
}

interface Token {
  readonly type: string;
  readonly content: string;
  tag: string;
}

/** A head of a table that says nothing is no head: readers of a screen would be told of it. */
function headlessCells({ tokens }: { readonly tokens: readonly Token[] }): void {
  for (const [index, token] of tokens.entries()) {
    const end = tokens[index + 2];
    if (token.type !== "th_open" || tokens[index + 1]?.content !== "" || end === undefined)
      continue;
    token.tag = "td";
    end.tag = "td";
  }
}

const page = (text: string, path: string) => ({ text, link: `/${path}` });

export default defineConfig({
  title: "opwright",
  description: "Describe your backend in YAML, and get a TypeScript service that you can read.",
  srcDir: "..",
  outDir: "../dist/site",
  cacheDir: "../node_modules/.cache/vitepress",
  // Every page of the repository that a user reads.
  srcExclude: [
    "**/node_modules/**",
    "dist/**",
    "generated/**",
    "test/**",
    "changes/**",
    "templates/**",
  ],
  rewrites: { "README.md": "index.md" },
  markdown: {
    html: false,
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (markdown) => markdown.core.ruler.push("empty heads", headlessCells),
  },
  // What is in the repository alone.
  ignoreDeadLinks: [/\/changes\/README$/, /\/test\/generator\/scenarios\//, /\/\.ci\/run$/],
  buildEnd: copyMarkdown,
  lang: "en",
  lastUpdated: false,
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      page("Start", "docs/first-service"),
      page("Reference", "docs/registry"),
      page("Figures", "docs/bench"),
      page("Changes", "CHANGELOG"),
    ],
    sidebar: [
      {
        text: "Start",
        items: [
          page("opwright", ""),
          page("Your first service", "docs/first-service"),
          page("Recipes", "docs/recipes"),
        ],
      },
      {
        text: "Write",
        items: [
          page("The registry", "docs/registry"),
          page("Handlers", "docs/handlers"),
          page("Lists, aggregates, search", "docs/queries"),
          page("Identity", "docs/identity"),
          page("Files", "docs/storage"),
          page("Realtime", "docs/realtime"),
          page("Webhooks", "docs/webhooks"),
          page("Jobs", "docs/jobs"),
          page("The audit trail", "docs/audit"),
          page("Testing", "docs/testing"),
          page("The client", "docs/client"),
        ],
      },
      {
        text: "Run",
        items: [
          page("Running a service", "docs/running"),
          page("Its pages", "docs/pages"),
          page("Deploying", "docs/deploying"),
          page("When the registry changes", "docs/evolution"),
          page("The pipeline", "docs/ci"),
          page("Bounds", "docs/bounds"),
          page("Metrics", "docs/metrics"),
          page("Traces", "docs/tracing"),
          page("Security", "SECURITY"),
        ],
      },
      {
        text: "Look up",
        items: [
          page("The command line", "docs/cli"),
          page("Functions", "docs/functions"),
          page("Errors", "docs/errors"),
          page("Diagnostics", "docs/diagnostics"),
          page("Figures", "docs/bench"),
          page("Changes", "CHANGELOG"),
          page("Releases", "docs/releases"),
        ],
      },
      {
        text: "Contribute",
        items: [page("Working on opwright", "CONTRIBUTING"), page("Design", "docs/design/README")],
      },
    ],
  },
});
