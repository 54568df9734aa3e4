// What there is to know of one operation: its guards in words, its limits, its errors, its source.
import type { JSX } from "preact";
import { codesOf, type Catalog, type Entry } from "../openapi/catalog.js";
import { hookText } from "./hook-text.js";

/** The panel of an operation. */
export function Panel({
  catalog,
  entry,
}: {
  readonly catalog: Catalog;
  readonly entry: Entry;
}): JSX.Element {
  const { key, summary, method, hooks, guard, source, emits = [] } = entry;
  const codes = codesOf(catalog, entry);
  return (
    <div class="card stack">
      <header class="stack tight">
        <h2>{summary}</h2>
        <code class="quiet">{key}</code>
        <p class="row">
          {method !== null && <a href={`/docs#${key}`}>Try it</a>}
          <a href="#">Close</a>
        </p>
      </header>
      <section class="stack tight">
        <h3>Guard</h3>
        <p>
          <span class="badge">{guard}</span>
        </p>
        {hooks.length === 0 ? (
          <p>It is open to everybody.</p>
        ) : (
          <ol>
            {hooks.map((hook) => (
              <li key={`${hook.phase} ${hook.id}`}>{hookText(hook)}</li>
            ))}
          </ol>
        )}
      </section>
      <section class="stack tight">
        <h3>Limits</h3>
        <ul>
          {limitTexts(entry).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </section>
      <section class="stack tight">
        <h3>Errors</h3>
        <p class="row">
          {codes.map((code) => (
            <code key={code} class="badge">
              {code}
            </code>
          ))}
        </p>
      </section>
      {emits.length > 0 && (
        <section class="stack tight">
          <h3>Signals</h3>
          <p class="row">
            {emits.map((name) => (
              <a key={name} href="/docs/events" class="badge">
                {name}
              </a>
            ))}
          </p>
        </section>
      )}
      <p class="small quiet">
        Declared in <code>{source}</code>
      </p>
    </div>
  );
}

function limitTexts({
  deadline_seconds: deadline,
  idempotency_key: isKeyed,
  transaction,
  deprecated,
}: Entry): readonly string[] {
  return [
    deadline === null ? "It has no deadline." : `It ends after ${deadline} s.`,
    ...(transaction === "write" ? ["It writes in one transaction."] : []),
    ...(isKeyed ? ["It takes an Idempotency-Key."] : []),
    ...(deprecated === undefined ? [] : [deprecationText(deprecated)]),
  ];
}

function deprecationText({ since, sunset, use }: NonNullable<Entry["deprecated"]>): string {
  const end = sunset === null ? "" : `, and may be gone from ${sunset} on`;
  return `It has been deprecated since ${since}${end}.${use === null ? "" : ` Use ${use}.`}`;
}
