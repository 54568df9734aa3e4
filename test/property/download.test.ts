// Conditions and ranges of downloads over HTTP against a model that is written from RFC 9110 §13.2.2 and §14.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { engines } from "../support/engines.js";
import { startTestService, type TestService } from "../support/service.js";

/** `npm run test:long` asks more. */
const numRuns = Number(process.env["OPWRIGHT_TEST_DOWNLOADS"] ?? 500);
const [sqlite] = engines;
const content = "0123456789abcdef";
let service: TestService;
let path = "";
let etag = "";
let modified = 0;

beforeAll(async () => {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  service = await startTestService(sqlite);
  const form = new FormData();
  form.set("file", new Blob([content]), "x.txt");
  const { body } = await service.post("/files", form);
  path = `/files/${body.key}`;
  etag = `"${body.etag}"`;
  modified = Math.floor(Date.parse(body.created_at) / 1000);
  // A date is a strong validator only once its second is over.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
});
afterAll(() => service.stop());

/** A date of HTTP, so many seconds from the object's, in one of the three forms. */
function dateAt(seconds: number, form: "fixdate" | "rfc850" | "asctime"): string {
  const date = new Date((modified + seconds) * 1000);
  const fixdate = date.toUTCString();
  if (form === "fixdate") return fixdate;
  const [day = "", number = "", month = "", year = "", time = ""] = fixdate
    .replace(",", "")
    .split(" ");
  if (form === "asctime") return `${day} ${month} ${number.replace(/^0/, " ")} ${time} ${year}`;
  const days = {
    Mon: "Monday",
    Tue: "Tuesday",
    Wed: "Wednesday",
    Thu: "Thursday",
    Fri: "Friday",
    Sat: "Saturday",
    Sun: "Sunday",
  };
  return `${days[day as keyof typeof days]}, ${number}-${month}-${year.slice(2)} ${time} GMT`;
}

/** A tag list as it is sent, and whether it has the object; weak tags count by their opaque part in If-Match as well. */
interface Tags {
  readonly text: () => string;
  readonly has: boolean;
}
const tags: fc.Arbitrary<Tags> = fc.constantFrom(
  { text: () => "*", has: true },
  { text: () => etag, has: true },
  { text: () => `W/${etag}`, has: true },
  { text: () => `"other", ${etag}`, has: true },
  { text: () => `"other",W/${etag} , "more"`, has: true },
  { text: () => '"other"', has: false },
  { text: () => 'W/"other", "more"', has: false },
  { text: () => "garbage", has: false },
);

/** A date as it is sent; null where it is none. */
interface Dated {
  readonly text: () => string;
  readonly offset: number | null;
}
const dates: fc.Arbitrary<Dated> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(-86_400, -1, 0, 1, 86_400),
      fc.constantFrom("fixdate" as const, "rfc850" as const, "asctime" as const),
    )
    .map(([offset, form]) => ({ text: () => dateAt(offset, form), offset })),
  fc
    .constantFrom("yesterday", "2026-01-01T00:00:00Z", "0", "Mon, 32 Foo 2026 00:00:00 GMT")
    .map((text) => ({ text: () => text, offset: null })),
);

const bound = fc.integer({ min: 0, max: content.length + 3 });
/** A Range header, and the first and last byte it asks for; null is to be ignored. */
const ranges: fc.Arbitrary<{
  readonly text: string;
  readonly asks: readonly [number, number] | "unsatisfiable" | null;
}> = fc.oneof(
  fc.tuple(bound, bound).map(([first, last]) => ({
    text: `bytes=${first}-${last}`,
    asks:
      last < first
        ? null
        : first >= content.length
          ? ("unsatisfiable" as const)
          : ([first, Math.min(last, content.length - 1)] as const),
  })),
  bound.map((first) => ({
    text: `bytes=${first}-`,
    asks:
      first >= content.length ? ("unsatisfiable" as const) : ([first, content.length - 1] as const),
  })),
  bound.map((count) => ({
    text: `bytes=-${count}`,
    asks:
      count === 0
        ? ("unsatisfiable" as const)
        : ([Math.max(0, content.length - count), content.length - 1] as const),
  })),
  fc
    .constantFrom("bytes=0-1,3-4", "bytes=-", "bytes=a-b", "lines=0-1", "0-1", "bytes=1 -2")
    .map((text) => ({ text, asks: null })),
);

const request = fc.record(
  {
    ifMatch: tags,
    ifNoneMatch: tags,
    ifModifiedSince: dates,
    ifUnmodifiedSince: dates,
    ifRange: fc.oneof(
      fc.constantFrom<{ readonly text: () => string; readonly matches: boolean }>(
        { text: () => etag, matches: true },
        { text: () => `W/${etag}`, matches: false },
        { text: () => '"other"', matches: false },
        { text: () => "garbage", matches: false },
      ),
      dates.map(({ text, offset }) => ({ text, matches: offset === 0 })),
    ),
    range: ranges,
  },
  { requiredKeys: [] },
);
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

/** What the answer is to be. */
function expected(
  asked: Request,
  isHead: boolean,
): { readonly status: number; readonly body: string } {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, ifRange, range } = asked;
  if (ifMatch !== undefined) {
    if (!ifMatch.has) return { status: 412, body: "" };
  } else if (ifUnmodifiedSince !== undefined && ifUnmodifiedSince.offset !== null) {
    if (ifUnmodifiedSince.offset < 0) return { status: 412, body: "" };
  }
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch.has) return { status: 304, body: "" };
  } else if (ifModifiedSince !== undefined && ifModifiedSince.offset !== null) {
    if (ifModifiedSince.offset >= 0) return { status: 304, body: "" };
  }
  const counts = ifRange === undefined || ifRange.matches;
  if (isHead || range === undefined || range.asks === null || !counts)
    return { status: 200, body: content };
  if (range.asks === "unsatisfiable") return { status: 416, body: "" };
  const [first, last] = range.asks;
  return { status: 206, body: content.slice(first, last + 1) };
}

test(
  `${numRuns} random requests are answered as RFC 9110 has it`,
  async () => {
    await fc.assert(
      fc.asyncProperty(request, fc.boolean(), async (asked, isHead) => {
        const headers: Record<string, string> = {
          authorization: `Bearer ${service.tester.token}`,
          ...(asked.ifMatch && { "if-match": asked.ifMatch.text() }),
          ...(asked.ifNoneMatch && { "if-none-match": asked.ifNoneMatch.text() }),
          ...(asked.ifModifiedSince && { "if-modified-since": asked.ifModifiedSince.text() }),
          ...(asked.ifUnmodifiedSince && { "if-unmodified-since": asked.ifUnmodifiedSince.text() }),
          ...(asked.ifRange && { "if-range": asked.ifRange.text() }),
          ...(asked.range && { range: asked.range.text }),
        };
        const answer = await fetch(`${service.url}${path}`, {
          method: isHead ? "HEAD" : "GET",
          headers,
        });
        const body = await answer.text();
        const { status, body: bytes } = expected(asked, isHead);
        expect(answer.status).toBe(status);
        if (status === 200 || status === 206) {
          expect(answer.headers.get("content-length")).toBe(String(bytes.length));
          expect(body).toBe(isHead ? "" : bytes);
        }
        if (status === 304) expect(answer.headers.get("etag")).toBe(etag);
        if (status === 416)
          expect(answer.headers.get("content-range")).toBe(`bytes */${content.length}`);
      }),
      { numRuns },
    );
  },
  120_000 + numRuns * 60,
);
