// The documents of a kind as a table, a page at a time.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { Empty } from "../../parts/empty.js";
import { Fault } from "../../parts/fault.js";
import { useLoaded } from "../../shell/use-loaded.js";
import type { Api, Json } from "../api.js";
import { useNotice } from "../notice.js";
import { isId, ShortId } from "../short-id.js";
import { Value } from "../value.js";
import { documentKind, titleMember, type DocumentKind } from "./document.js";
import { FilterBar } from "./filter-bar.js";
import { combined, filterOf } from "./filters.js";
import { Finder, findingOf } from "./finder.js";
import {
  keepListingState,
  readListingState,
  type ListingState,
  type Place,
  type Sort,
} from "./listing-state.js";
import { idsIn, Named } from "./named.js";
import { readReferenceTitles, type ReferenceTitles } from "./reference-titles.js";

const pageSize = 25;
/** Columns that fit beside each other. */
const mostColumns = 6;

interface Page {
  readonly hits: readonly Json[];
  /** What the hits refer to, by id. */
  readonly titles: ReferenceTitles;
  readonly previous: Place | null;
  readonly next: Place | null;
}

/** The table of a kind of document, with its filters. */
export function DocumentList({
  api,
  name,
}: {
  readonly api: Api;
  readonly name: string;
}): JSX.Element {
  const kind = documentKind(api, name);
  const [notice] = useNotice();
  const [state, setState] = useState(() => readListingState(kind));
  const { conditions, match, sort, place, isDeleted, words } = state;
  // A list that is asked for something else begins at its first page.
  const ask = (asked: Partial<ListingState>): void => {
    const next = { ...state, place: {}, ...asked };
    keepListingState(next);
    setState(next);
  };
  const listing = isDeleted ? `${name}.list_deleted` : (kind.list ?? `${name}.list_cursor`);
  const filters = combined(
    "$and",
    [filterOf(kind, conditions, match), filterOf(kind, findingOf(kind, words), "all")].filter(
      (one) => one !== null,
    ),
  );
  const query = {
    size: pageSize,
    ...(filters === null ? {} : { filters }),
    ...(sort === null ? {} : { sorts: { [sort.member]: sort.direction } }),
  };
  const loaded = useLoaded(async () => {
    const page = await readPage(api, listing, query, place);
    return { ...page, titles: await readReferenceTitles(api, kind, page.hits) };
  }, [listing, JSON.stringify(query), JSON.stringify(place)]);
  return (
    <div class="stack">
      <div class="row">
        <h1>{name}</h1>
        {api.can(`${name}.create`) && (
          <a class="button last" href={`#documents/${name}/new`}>
            {api.operation(`${name}.create`)?.summary ?? "New"}
          </a>
        )}
      </div>
      <div class="row">
        <Finder kind={kind} words={words} find={(sought) => ask({ words: sought })} />
        {api.can(`${name}.list_deleted`) && (
          <label class="row">
            <input
              id="deleted"
              type="checkbox"
              checked={isDeleted}
              onChange={(event) => ask({ isDeleted: event.currentTarget.checked })}
            />
            Only deleted ones
          </label>
        )}
      </div>
      <FilterBar
        kind={kind}
        conditions={conditions}
        setConditions={(set) => ask({ conditions: set })}
        match={match}
        setMatch={(next) => ask({ match: next })}
      />
      {notice}
      {loaded.state === "failed" && <Fault error={loaded.error} />}
      {loaded.state === "loaded" && (
        <>
          {loaded.value.hits.length === 0 ? (
            <Empty title={`No ${isDeleted ? "deleted " : ""}documents`}>
              {emptyText(name, isDeleted, filters !== null)}
            </Empty>
          ) : (
            <Table
              kind={kind}
              page={loaded.value}
              sort={sort}
              setSort={(next) => ask({ sort: next })}
            />
          )}
          <Pager page={loaded.value} go={(next) => ask({ place: next })} />
        </>
      )}
    </div>
  );
}

function emptyText(name: string, isDeleted: boolean, isAsked: boolean): string {
  if (isAsked) return "None fits what was asked for.";
  return isDeleted
    ? "None is deleted. What was removed for good can't be listed."
    : `There are none of ${name} yet, or none that you may read.`;
}

function Pager({
  page: { hits, previous, next },
  go,
}: {
  readonly page: Page;
  readonly go: (place: Place) => void;
}): JSX.Element | null {
  const shown = <span class="small quiet">{countText(hits.length)}</span>;
  if (previous === null && next === null) return hits.length === 0 ? null : <p>{shown}</p>;
  return (
    <p class="row">
      <button type="button" disabled={previous === null} onClick={() => previous && go(previous)}>
        Previous
      </button>
      <button type="button" disabled={next === null} onClick={() => next && go(next)}>
        Next
      </button>
      {shown}
    </p>
  );
}

function countText(count: number): string {
  return count === 1 ? "1 document" : `${count} documents`;
}

/** A page of a list, by cursor or by number. */
async function readPage(
  api: Api,
  listing: string,
  query: Json,
  place: Place,
): Promise<Omit<Page, "titles">> {
  if (listing.endsWith(".list")) {
    const { page = 1 } = place;
    const { hits, count } = await api.call<{
      readonly hits: readonly Json[];
      readonly count: number;
    }>(listing, { ...query, page });
    return {
      hits,
      previous: page > 1 ? { page: page - 1 } : null,
      next: page * pageSize < count ? { page: page + 1 } : null,
    };
  }
  const {
    hits,
    next_cursor: next,
    prev_cursor: previous,
  } = await api.call<{
    readonly hits: readonly Json[];
    readonly next_cursor: string | null;
    readonly prev_cursor: string | null;
  }>(listing, { ...query, ...place });
  return {
    hits,
    previous: previous === null ? null : { before: previous },
    next: next === null ? null : { after: next },
  };
}

interface TableProps {
  readonly kind: DocumentKind;
  readonly page: Page;
  readonly sort: Sort | null;
  readonly setSort: (sort: Sort | null) => void;
}

function Table({ kind, page: { hits, titles }, sort, setSort }: TableProps): JSX.Element {
  const title = titleMember(kind) ?? "id";
  const others = kind.ownMembers.filter((name) => name !== title).slice(0, mostColumns - 2);
  const columns = [title, ...others, "last_update_at"];
  return (
    <table class="folding">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col" aria-sort={ariaSort(sort, name)}>
              {kind.sortable.includes(name) ? (
                <button class="plain" type="button" onClick={() => setSort(nextSort(sort, name))}>
                  {name}
                </button>
              ) : (
                name
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {hits.map((hit) => (
          <tr key={String(hit["id"])}>
            {columns.map((name) => (
              <td
                key={name}
                class={name === title ? "title" : isNothing(hit[name]) ? "nothing" : undefined}
                data-label={name === title ? undefined : name}
              >
                <Cell {...{ kind, name, hit, titles }} isTitle={name === title} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}

interface CellProps {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly hit: Json;
  readonly titles: ReferenceTitles;
  readonly isTitle: boolean;
}

function Cell({ kind, name, hit, titles, isTitle }: CellProps): JSX.Element {
  const value = hit[name];
  const to = kind.references[name];
  if (isTitle)
    return (
      <a href={`#documents/${kind.name}/${String(hit["id"])}`}>
        {isNothing(value) ? String(hit["id"]) : <Value value={value} />}
      </a>
    );
  if (to !== undefined && idsIn(value).length > 0)
    return <Named value={value} to={to} titles={titles} />;
  if (typeof value !== "string") return <Value value={value} />;
  if (isId(value)) return <ShortId id={value} />;
  const isChoice = kind.members[name]?.enum !== undefined;
  return isChoice ? <span class="badge">{value}</span> : <Value value={value} />;
}

/** Ascending, descending, not at all. */
function nextSort(sort: Sort | null, member: string): Sort | null {
  if (sort?.member !== member) return { member, direction: "asc" };
  return sort.direction === "asc" ? { member, direction: "desc" } : null;
}

function ariaSort(sort: Sort | null, member: string): "ascending" | "descending" | "none" {
  if (sort?.member !== member) return "none";
  return sort.direction === "asc" ? "ascending" : "descending";
}
