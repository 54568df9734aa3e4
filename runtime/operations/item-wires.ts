// How values are written one after the other: as lines of JSON, as Server-Sent Events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html), as rows of CSV (RFC 4180).
import { csvHeader, csvRow } from "./csv.js";

export interface Wire {
  readonly contentType: string;
  /** What stands in front of the first value. */
  readonly begin: string;
  /** One value: its JSON as it was checked, and the value that the handler gave. */
  frame(text: string, item: unknown): string;
  /** A sign of life while no value comes; null where readers would take it for a value. */
  readonly beat: string | null;
  /** What stands behind the last value. */
  readonly end: string;
}

export const lines: Wire = {
  contentType: "application/jsonl",
  begin: "",
  frame: (text) => `${text}\n`,
  beat: "\n",
  end: "",
};

/** The member `id` of a value is the id of its event, with which browsers continue. */
export const events: Wire = {
  contentType: "text/event-stream; charset=utf-8",
  begin: "",
  frame(text, item) {
    const { id } = (item ?? {}) as { readonly id?: unknown };
    const isId = typeof id === "number" || (typeof id === "string" && !/[\n\r\0]/.test(id));
    return `${isId ? `id: ${id}\n` : ""}data: ${text}\n\n`;
  },
  beat: ":\n\n",
  // Browsers connect again to what has ended, unless they are told that this is all.
  end: "event: end\ndata: {}\n\n",
};

/** Rows with these columns, below a line of their names. */
export function rowsOf(columns: readonly string[]): Wire {
  return {
    contentType: "text/csv; charset=utf-8",
    begin: csvHeader(columns),
    frame: (text) => csvRow(columns, JSON.parse(text) as Readonly<Record<string, unknown>>),
    beat: null,
    end: "",
  };
}
