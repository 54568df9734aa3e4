// What there is to know of one operation: its guards in words, its limits, its errors, its source.
import type { JSX } from "preact";
import { codesOf, hookText, type Catalog, type Entry } from "./catalog.js";

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
      {emits.length > 0 && (
        <section class="stack tight">
          <h3>Events</h3>
          <p class="row">
            {emits.map((event) => (
              <code key={event}>{event}</code>
            ))}
          </p>
        </section>
      )}
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
    transaction === "write"
      ? "It writes in one transaction."
      : "It opens no transaction that writes by itself.",
    ...(isKeyed ? ["It takes an Idempotency-Key."] : []),
    ...(deprecated === undefined
      ? []
      : [
          `It is deprecated since ${deprecated.since}${deprecated.sunset === undefined ? "" : `, and may be removed from ${deprecated.sunset} on`}.`,
        ]),
  ];
}
