// The pages /docs, /docs/operations, /docs/events and /console, to read, try and run a service in a
// browser. Their scripts are built from pages/.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerGet } from "../get-only.js";
import { KeptText } from "../kept-text.js";
import { docsPage } from "./page.js";

export interface DocsOptions {
  readonly title: string;
  /** Whether there are the pages of the documentation, and the console. */
  readonly shows: { readonly docs: boolean; readonly console: boolean };
  /** The generated folder, for its catalog. */
  readonly folder: string;
  /** The paths and transports of realtime; null if the service has none. */
  readonly realtime: { readonly path: string; readonly transports: readonly string[] } | null;
  /** The header that tokens are sent in. */
  readonly tokenHeader: string;
  /** The scheme before the token. */
  readonly tokenScheme: string;
}

interface Answer {
  readonly type: string;
  readonly text: KeptText;
  readonly policy: string;
}

function answerOf(type: string, read: () => Promise<string | Buffer>): Answer {
  return { type, text: new KeptText(read), policy };
}

const types = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
} as const;

/** Nothing inline, nothing from elsewhere; the files that were downloaded are `blob:`. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * A mail has its styles inline, and pictures from anywhere. The script that shows it is the only
 * one that runs; the console's own document is the only one that it is shown in.
 */
const mailPolicy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data: https: http:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox";

/** Answers GET and HEAD of the documentation's paths; returns whether it did. */
export async function docsEndpoint(
  options: DocsOptions,
): Promise<(req: IncomingMessage, res: ServerResponse) => boolean> {
  const answers = await docsAnswers(options);
  return (req, res) => {
    const [path = ""] = (req.url ?? "").split("?", 1);
    const answer = answers.get(path) ?? answers.get(path.replace(/\/$/, ""));
    if (answer === undefined) return false;
    answerGet(req, res, () =>
      answer.text.answer(req, res, [
        "Content-Type",
        answer.type,
        "Cache-Control",
        "no-cache",
        "Content-Security-Policy",
        answer.policy,
        "X-Content-Type-Options",
        "nosniff",
        "Referrer-Policy",
        "no-referrer",
      ]),
    );
    return true;
  };
}

/** The pages, with the script of each, and what they are made of, by path. */
async function docsAnswers({
  title,
  folder,
  shows,
  realtime,
  tokenHeader,
  tokenScheme,
}: DocsOptions): Promise<ReadonlyMap<string, Answer>> {
  const docs = [
    { path: "/docs", name: "Reference", script: "reference" },
    { path: "/docs/operations", name: "Operations", script: "operations" },
    ...(realtime === null ? [] : [{ path: "/docs/events", name: "Events", script: "events" }]),
  ];
  // Each has its files below its own path: the other may belong to the service.
  const shown = [
    ...(shows.docs ? docs.map((page) => ({ ...page, files: "/docs" })) : []),
    ...(shows.console
      ? [{ path: "/console", name: "Console", script: "console", files: "/console" }]
      : []),
  ];
  const pages = Object.fromEntries(shown.map(({ path, name }) => [path, name]));
  const built = builtFolder();
  const names = await readdir(built);
  const answers = new Map<string, Answer>();
  for (const files of new Set(shown.map((page) => page.files))) {
    for (const name of names) {
      const type = name.endsWith(".css") ? types.css : types.js;
      answers.set(
        `${files}/${name}`,
        answerOf(type, () => readFile(join(built, name))),
      );
    }
    const catalog = answerOf(types.json, () => readFile(join(folder, "catalog.json")));
    answers.set(`${files}/catalog.json`, catalog);
  }
  for (const { path, script, files } of shown) {
    const config = { tokenHeader, tokenScheme, realtime, files };
    const page = { title, pages, path, files, script, config };
    answers.set(
      path,
      answerOf(types.html, async () => docsPage(page)),
    );
  }
  if (shows.console) {
    const read = async (): Promise<string> => mailFrame;
    answers.set("/console/mail", { ...answerOf(types.html, read), policy: mailPolicy });
  }
  return answers;
}

/** The document that a mail is shown in. */
const mailFrame = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Mail</title><script src="/console/mail.js"></script></head>
<body></body>
</html>
`;

/** Where scripts and styles are, seen from a bundle, from `dist/runtime`, or from `runtime`. */
function builtFolder(): string {
  const places = ["../pages/", "../../../pages/", "../../../dist/pages/"];
  const folders = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = folders.find((folder) => existsSync(join(folder, "style.css")));
  if (found === undefined) throw new Error("the pages have not been built: run npm run build");
  return found;
}
