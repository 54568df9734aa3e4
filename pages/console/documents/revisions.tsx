// The revisions of a document: who changed it when, what was different, and the way back.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { Fault } from "../../parts/fault.js";
import { useLoaded } from "../../shell/use-loaded.js";
import { claimsOf, heldToken } from "../../shell/tokens.js";
import { Action } from "../action.js";
import type { Api, Json } from "../api.js";
import type { Say } from "../notice.js";
import { CopiedId } from "../short-id.js";
import { Value } from "../value.js";

interface RevisionsProps {
  readonly api: Api;
  readonly name: string;
  readonly document: Json;
  readonly say: Say;
  readonly reload: () => void;
}

interface Revision {
  readonly rev: number;
  readonly changed_at: string | null;
  readonly changed_by: string | null;
  readonly is_deleted: boolean;
}

interface Change {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** The revisions; nothing where the document keeps none, or the user may not read them. */
export function Revisions(props: RevisionsProps): JSX.Element | null {
  if (!props.api.can(`${props.name}.revisions`)) return null;
  if (props.document["is_deleted"] !== true) return <RevisionList {...props} />;
  return (
    <section class="stack" aria-labelledby="revisions">
      <h2 id="revisions">Revisions</h2>
      <p>They are kept. Restore the document to see them.</p>
    </section>
  );
}

function RevisionList({ api, name, document, say, reload }: RevisionsProps): JSX.Element {
  const { id, rev } = document;
  const [chosen, choose] = useState<number | null>(null);
  const [most, setMost] = useState(20);
  const loaded = useLoaded(
    () =>
      api.call<{ readonly hits: readonly Revision[]; readonly has_more: boolean }>(
        `${name}.revisions`,
        { id, size: most },
      ),
    [id, rev, most],
  );
  return (
    <section class="stack" aria-labelledby="revisions">
      <h2 id="revisions">Revisions</h2>
      {loaded.state === "failed" && <Fault error={loaded.error} />}
      {loaded.state === "loaded" && (
        <ul class="members">
          {loaded.value.hits.map((one) => (
            <li key={one.rev}>
              <div class="row">
                <button
                  type="button"
                  aria-expanded={chosen === one.rev}
                  onClick={() => choose(chosen === one.rev ? null : one.rev)}
                >
                  {`Revision ${one.rev}`}
                </button>
                <span class="small quiet">
                  <Value value={one.changed_at} />
                  {" by "}
                  {one.changed_by === null ? (
                    "nobody who was signed in"
                  ) : (
                    <Person id={one.changed_by} />
                  )}
                </span>
                {one.is_deleted && <span class="badge bad">deleted</span>}
                {one.rev === rev && <span class="badge">current</span>}
              </div>
              {chosen === one.rev && (
                <Differences {...{ api, name, document, say, reload }} revision={one} />
              )}
            </li>
          ))}
        </ul>
      )}
      {loaded.state === "loaded" && loaded.value.has_more && (
        <button type="button" onClick={() => setMost(most + 20)}>
          Earlier ones
        </button>
      )}
    </section>
  );
}

/** What differs between a revision and the document as it is. */
function Differences({
  api,
  name,
  document,
  say,
  reload,
  revision,
}: RevisionsProps & { readonly revision: Revision }): JSX.Element {
  const { id, rev } = document;
  const loaded = useLoaded(
    () =>
      api.call<{ readonly changes: readonly Change[] }>(`${name}.revision_diff`, {
        id,
        revision: revision.rev,
        to: rev,
      }),
    [id, rev, revision.rev],
  );
  const isCurrent = revision.rev === rev;
  const mayRevert = !isCurrent && document["is_deleted"] !== true && api.can(`${name}.revert`);
  return (
    <div class="stack tight">
      {loaded.state === "failed" && <Fault error={loaded.error} />}
      {loaded.state === "loaded" && (
        <Changes changes={loaded.value.changes} isCurrent={isCurrent} />
      )}
      {mayRevert && loaded.state === "loaded" && loaded.value.changes.length > 0 && (
        <p>
          <Action
            label={`Revert to revision ${revision.rev}`}
            done={`The document is as it was in revision ${revision.rev}.`}
            say={say}
            run={async () => {
              await api.call(`${name}.revert`, { id, rev, to: revision.rev });
              reload();
            }}
          />
        </p>
      )}
    </div>
  );
}

/** Who changed it: the reader, or somebody else by their id. */
function Person({ id }: { readonly id: string }): JSX.Element {
  return claimsOf(heldToken())["sub"] === id ? <>you</> : <CopiedId id={id} />;
}

function Changes({
  changes,
  isCurrent,
}: {
  readonly changes: readonly Change[];
  readonly isCurrent: boolean;
}): JSX.Element {
  if (changes.length === 0)
    return (
      <p class="small quiet">
        {isCurrent
          ? "This is the document as it is."
          : "Nothing differs from the document as it is."}
      </p>
    );
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Then</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ path, from, to }) => (
          <tr key={path}>
            <td>
              <code>{path}</code>
            </td>
            <td>
              <Value value={from} />
            </td>
            <td>
              <Value value={to} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
