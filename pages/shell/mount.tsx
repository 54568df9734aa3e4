// The frame of every page: navigation, who is signed in, and the page itself once the service's
// documents are loaded.
import { render, type JSX } from "preact";
import type { OpenApi } from "../openapi/document.js";
import { Empty } from "../parts/empty.js";
import { config } from "./config.js";
import { requestJson } from "./request.js";
import { applyScheme, SchemeSwitch } from "./scheme.js";
import { Session } from "./session.js";
import { useLoaded } from "./use-loaded.js";

/** Shows a page, which is given the service's OpenAPI document. */
export function mountPage(Page: (props: { readonly openapi: OpenApi }) => JSX.Element): void {
  const root = document.getElementById("root");
  applyScheme();
  if (root !== null) render(<Frame Page={Page} />, root);
}

function Frame({
  Page,
}: {
  readonly Page: (props: { readonly openapi: OpenApi }) => JSX.Element;
}): JSX.Element {
  const loaded = useLoaded(() => requestJson<OpenApi>("GET", "/openapi.json"));
  return (
    <>
      <a class="skip" href="#main" onClick={goToContent}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={Object.keys(config.pages)[0] ?? config.path}>
          {config.title}
        </a>
        <nav aria-label="Pages">
          {Object.entries(config.pages).map(([path, name]) => (
            <a key={path} href={path} aria-current={path === config.path ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <SchemeSwitch />
        {loaded.state === "loaded" && <Session openapi={loaded.value} />}
      </header>
      {loaded.state === "loaded" && <Page openapi={loaded.value} />}
      {loaded.state === "failed" && (
        <main class="page" id="main">
          <Empty title="The service's document could not be read">{loaded.error.message}</Empty>
        </main>
      )}
    </>
  );
}

/** The fragment of the address says what a page shows, so it stays as it is. */
function goToContent(event: MouseEvent): void {
  event.preventDefault();
  const content = document.getElementById("main");
  content?.setAttribute("tabindex", "-1");
  content?.focus();
}
