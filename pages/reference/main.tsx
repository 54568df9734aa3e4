// /docs: the reference of the service, read from its OpenAPI document, with a form for each
// operation.
import { useEffect, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { Catalog } from "../openapi/catalog.js";
import type { OpenApi } from "../openapi/document.js";
import { byNamespace, hasWords, operationsOf, type Operation } from "../openapi/operations.js";
import { Empty } from "../parts/empty.js";
import { Method } from "../parts/method.js";
import { config } from "../shell/config.js";
import { mountPage } from "../shell/mount.js";
import { requestJson } from "../shell/request.js";
import { useFragment } from "../shell/use-location.js";
import { useLoaded } from "../shell/use-loaded.js";
import { StatesPicture } from "./states.js";
import { FirstCall } from "./first-call.js";
import { OperationView } from "./operation-view.js";

function Reference({ openapi }: { readonly openapi: OpenApi }): JSX.Element {
  const key = useFragment();
  const operations = operationsOf(openapi);
  const operation = operations.get(key);
  const catalog = useLoaded(() => requestJson<Catalog>("GET", `${config.files}/catalog.json`));
  const calls = catalog.state === "loaded" ? catalog.value.operations : [];
  useEffect(() => {
    document.title = `${operation?.summary ?? "Reference"} · ${openapi.info.title}`;
    scrollTo(0, 0);
  }, [key]);
  return (
    <div class="shell">
      <Navigation operations={[...operations.values()]} chosen={key} />
      <main id="main">
        {operation === undefined ? (
          <Overview openapi={openapi} sought={key} />
        ) : (
          <OperationView
            openapi={openapi}
            operation={operation}
            client={calls.find((one) => one.key === key) ?? {}}
          />
        )}
      </main>
    </div>
  );
}

interface NavigationProps {
  readonly operations: readonly Operation[];
  readonly chosen: string;
}

/** All operations by namespace, with a search; on a phone the search alone until it is used. */
function Navigation({ operations, chosen }: NavigationProps): JSX.Element {
  const [search, setSearch] = useState("");
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    setIsOpen(false);
    document.querySelector("#side [aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const found = operations.filter(({ key, path, summary }) =>
    hasWords(`${key} ${path} ${summary}`, search),
  );
  const current = chosen.split(".")[0];
  return (
    <>
      <button
        class="menu"
        type="button"
        aria-expanded={isOpen}
        aria-controls="side"
        onClick={() => setIsOpen(!isOpen)}
      >
        All operations
      </button>
      <nav
        id="side"
        class={isOpen ? "side search" : "side search closed"}
        aria-label="Operations"
        tabIndex={-1}
      >
        <label>
          <span class="hidden">Search operations</span>
          <input
            id="search"
            type="search"
            placeholder="Search operations"
            value={search}
            onInput={({ currentTarget: { value } }) => {
              setSearch(value);
              setIsOpen(value !== "");
            }}
          />
        </label>
        {found.length === 0 && <Empty title="No matching operation" />}
        {[...byNamespace(found)].map(([namespace, those]) => (
          <details key={namespace} open={search !== "" || namespace === current}>
            <summary>{namespace}</summary>
            <ul>
              {those.map(({ key, method, summary }) => (
                <li key={key}>
                  <a
                    href={`#${key}`}
                    title={key}
                    aria-current={key === chosen ? "page" : undefined}
                  >
                    {summary}
                    <Method name={method} />
                  </a>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </nav>
    </>
  );
}

interface OverviewProps {
  readonly openapi: OpenApi;
  /** What the address asks for, and the service has not. */
  readonly sought: string;
}

/** What the service is, and its namespaces. */
function Overview({ openapi, sought }: OverviewProps): JSX.Element {
  const { title, version, description } = openapi.info;
  const described = new Map((openapi.tags ?? []).map((tag) => [tag.name, tag.description]));
  const namespaces = byNamespace(operationsOf(openapi).values());
  return (
    <div class="stack wide">
      <header class="stack tight">
        <h1>{title}</h1>
        <p class="row">
          <span class="badge">{`version ${version}`}</span>
          <a href="/openapi.json">openapi.json</a>
        </p>
        {description !== undefined && <p>{description}</p>}
      </header>
      {sought.includes(".") && (
        <p class="message bad" role="alert">
          There is no operation <code>{sought}</code> with a route.
        </p>
      )}
      <FirstCall openapi={openapi} />
      <section class="stack" aria-labelledby="namespaces">
        <h2 id="namespaces">Namespaces</h2>
        <div class="cards">
          {[...namespaces].map(([namespace, operations]) => (
            <a key={namespace} class="card stack tight" href={`#${operations[0]?.key ?? ""}`}>
              <strong>{namespace}</strong>
              <span class="small">{described.get(namespace) ?? ""}</span>
              <span class="small quiet">{`${operations.length} operations`}</span>
            </a>
          ))}
        </div>
      </section>
      <States openapi={openapi} />
    </div>
  );
}

/** The states of documents; nothing where none has any. */
function States({ openapi: { tags = [] } }: Pick<OverviewProps, "openapi">): JSX.Element | null {
  const pictures = tags.flatMap(({ name, "x-states": states }) =>
    states === undefined ? [] : [<StatesPicture key={name} namespace={name} states={states} />],
  );
  if (pictures.length === 0) return null;
  return (
    <section class="stack" aria-labelledby="states">
      <h2 id="states">States</h2>
      {pictures}
    </section>
  );
}

mountPage(Reference);
