// The pages /docs, /docs/events and /docs/operations, to read and try a service in a browser.
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerGet } from "../get-only.js";
import { KeptText } from "../kept-text.js";
import { docsPage, type DocsPage } from "./page.js";
import { docsStyle } from "./style.js";

export interface DocsOptions {
  readonly title: string;
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
}

function answerOf(type: string, read: () => Promise<string | Buffer>): Answer {
  return { type, text: new KeptText(read) };
}

const types = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
} as const;

/** Swagger UI writes styles into its elements, and has images in its style sheet. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Answers GET and HEAD of the documentation's paths; returns whether it did. */
export function docsEndpoint(
  options: DocsOptions,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const answers = docsAnswers(options);
  return (req, res) => {
    const [path = ""] = (req.url ?? "").split("?", 1);
    const answer = answers.get(path);
    if (answer === undefined) return false;
    answerGet(req, res, () =>
      answer.text.answer(req, res, [
        "Content-Type",
        answer.type,
        "Cache-Control",
        "no-cache",
        "Content-Security-Policy",
        policy,
        "X-Content-Type-Options",
        "nosniff",
        "Referrer-Policy",
        "no-referrer",
      ]),
    );
    return true;
  };
}

/** The pages and assets, by path. */
function docsAnswers({
  title,
  folder,
  realtime,
  tokenHeader,
  tokenScheme,
}: DocsOptions): ReadonlyMap<string, Answer> {
  const pages = {
    "/docs": "Try it",
    ...(realtime === null ? {} : { "/docs/events": "Events" }),
    "/docs/operations": "Operations",
  };
  const page = (
    path: string,
    scripts: readonly string[],
    { styles = [], config = {} }: Partial<Pick<DocsPage, "styles" | "config">> = {},
  ): readonly [string, Answer] => {
    const made: DocsPage = {
      title,
      pages,
      path,
      styles: [...styles, "/docs/docs.css"],
      scripts,
      config: { tokenHeader, tokenScheme, ...config },
    };
    return [path, answerOf(types.html, async () => docsPage(made))];
  };
  const swagger = swaggerFolder();
  const bundle = "swagger-ui-bundle.js";
  const tryIt =
    swagger === null
      ? [page("/docs", ["/docs/no-swagger.js"])]
      : [
          page("/docs", [`/docs/${bundle}`, "/docs/api.js"], {
            styles: ["/docs/swagger-ui.css"],
          }),
          ofSwagger(swagger, bundle),
          ofSwagger(swagger, "swagger-ui.css"),
        ];
  return new Map<string, Answer>([
    ...tryIt,
    ...(realtime === null
      ? []
      : [page("/docs/events", ["/docs/events.js"], { config: { realtime } })]),
    page("/docs/operations", ["/docs/operations.js"]),
    ["/docs/docs.css", answerOf(types.css, async () => docsStyle)],
    ...["session.js", "api.js", "no-swagger.js", "events.js", "operations.js"].map(asset),
    ["/docs/catalog.json", answerOf(types.json, () => readFile(join(folder, "catalog.json")))],
  ]);
}

/** A script of our own. */
function asset(name: string): readonly [string, Answer] {
  const file = new URL(`./assets/${name}`, import.meta.url);
  return [`/docs/${name}`, answerOf(types.js, () => readFile(file))];
}

function ofSwagger(folder: string, name: string): readonly [string, Answer] {
  const type = name.endsWith(".css") ? types.css : types.js;
  return [`/docs/${name}`, answerOf(type, () => readFile(join(folder, name)))];
}

/** Where swagger-ui-dist is installed, seen from here or from the project; null if it isn't. */
function swaggerFolder(): string | null {
  for (const from of [fileURLToPath(import.meta.url), join(process.cwd(), "package.json")]) {
    try {
      return dirname(createRequire(from).resolve("swagger-ui-dist/package.json"));
    } catch {
      // It is optional: the page says how to install it.
    }
  }
  return null;
}
