// /docs/operations: every operation of the service, to be filtered, each with what guards it.
import { useEffect, useState } from "preact/hooks";
import type { JSX } from "preact";
import { namespaceOf, type Catalog, type Entry } from "../openapi/catalog.js";
import { Empty } from "../parts/empty.js";
import { Field } from "../parts/field.js";
import { Method } from "../parts/method.js";
import { config } from "../shell/config.js";
import { mountPage } from "../shell/mount.js";
import { requestJson } from "../shell/request.js";
import { useFragment } from "../shell/use-location.js";
import { useLoaded } from "../shell/use-loaded.js";
import { chosenEntries, type Choice } from "./choice.js";
import { Panel } from "./panel.js";

const everything: Choice = { search: "", namespace: "", guard: "", kind: "" };

function Operations(): JSX.Element {
  const loaded = useLoaded(() => requestJson<Catalog>("GET", `${config.files}/catalog.json`));
  return (
    <main id="main" class="page stack wide">
      <h1>Operations</h1>
      {loaded.state === "failed" && (
        <Empty title="The catalog could not be read">{loaded.error.message}</Empty>
      )}
      {loaded.state === "loaded" && <Listing catalog={loaded.value} />}
    </main>
  );
}

function Listing({ catalog }: { readonly catalog: Catalog }): JSX.Element {
  const [choice, setChoice] = useState(everything);
  const key = useFragment();
  const chosen = catalog.operations.find((entry) => entry.key === key);
  const found = chosenEntries(catalog.operations, choice);
  useEffect(() => {
    if (chosen !== undefined)
      document.getElementById("panel")?.scrollIntoView({ block: "nearest" });
  }, [key]);
  return (
    <div class={chosen === undefined ? "stack" : "split"}>
      <div class="stack">
        <Filters entries={catalog.operations} choice={choice} setChoice={setChoice} />
        <p id="count" role="status" class="quiet">
          {`${found.length} of ${catalog.operations.length} operations`}
        </p>
        {found.length === 0 ? (
          <Empty title="No matching operation">
            <button type="button" onClick={() => setChoice(everything)}>
              Show all
            </button>
          </Empty>
        ) : (
          <Table entries={found} chosen={key} />
        )}
      </div>
      {chosen !== undefined && (
        <aside class="aside" id="panel" aria-label={chosen.key}>
          <Panel catalog={catalog} entry={chosen} />
        </aside>
      )}
    </div>
  );
}

interface FiltersProps {
  readonly entries: readonly Entry[];
  readonly choice: Choice;
  readonly setChoice: (choice: Choice) => void;
}

function Filters({ entries, choice, setChoice }: FiltersProps): JSX.Element {
  const namespaces = [...new Set(entries.map(namespaceOf))].sort();
  const guards = [...new Set(entries.map(({ guard }) => guard))].sort();
  const methods = [...new Set(entries.flatMap(({ method }) => method ?? []))].sort();
  const kinds = [
    ...methods.map((method) => [method, method] as const),
    ["deprecated", "Deprecated"] as const,
    ["unrouted", "Without a route"] as const,
  ];
  const select = (
    label: string,
    member: "namespace" | "guard" | "kind",
    options: readonly (readonly [value: string, text: string])[],
  ): JSX.Element => (
    <Field label={label}>
      <select
        id={member}
        value={choice[member]}
        onChange={(event) => setChoice({ ...choice, [member]: event.currentTarget.value })}
      >
        <option value="">All</option>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
  return (
    <form class="cards" role="search" onSubmit={(event) => event.preventDefault()}>
      <Field label="Search">
        <input
          id="search"
          type="search"
          placeholder="a name, a path, a guard, a file"
          value={choice.search}
          onInput={(event) => setChoice({ ...choice, search: event.currentTarget.value })}
        />
      </Field>
      {select(
        "Namespace",
        "namespace",
        namespaces.map((name) => [name, name]),
      )}
      {select(
        "Guard",
        "guard",
        guards.map((name) => [name, name]),
      )}
      {select("Kind", "kind", kinds)}
    </form>
  );
}

function Table({
  entries,
  chosen,
}: {
  readonly entries: readonly Entry[];
  readonly chosen: string;
}): JSX.Element {
  return (
    <table class="folding">
      <thead>
        <tr>
          <th scope="col">Operation</th>
          <th scope="col">Route</th>
          <th scope="col">Guard</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ key, summary, method, path, guard, deprecated }) => (
          <tr key={key}>
            <td>
              <a href={`#${key}`} aria-current={key === chosen ? "true" : undefined}>
                <code>{key}</code>
              </a>
              <div class="small quiet">{summary}</div>
            </td>
            <td>
              {method === null ? (
                <span class="badge">without a route</span>
              ) : (
                <>
                  <Method name={method} /> <code>{path}</code>
                </>
              )}
              {deprecated !== undefined && <span class="badge warn">deprecated</span>}
            </td>
            <td>
              <span class="badge">{guard}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

mountPage(Operations);
