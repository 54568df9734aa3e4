// Time zones on SQLite, which has none: a zone's offsets over a range, from the time zone database
// of Node.js.
import { knownZone } from "../../query/zones.js";

const dayMillis = 86_400_000;
/** A zone's rules are followed between these years; outside of them the nearest offset applies. */
const [earliest, latest] = [Date.UTC(1900, 0, 1), Date.UTC(2100, 0, 1)];

type Offset = readonly [from: string, minutes: number];

const known = new Map<string, readonly Offset[]>();

/**
 * The offsets of a zone between two instants, as JSON of `[[from, minutes], …]`, newest first: from
 * that instant on, local time is so many minutes ahead of UTC. Instants are RFC 3339 texts in UTC.
 */
export function zoneOffsets(timezone: string, first: string, last: string): string {
  const all = known.get(timezone) ?? offsetsOf(timezone);
  known.set(timezone, all);
  const start = all.findLastIndex(([from]) => from <= first);
  const within = all.filter(([from], index) => index >= start && from <= last);
  return JSON.stringify((within.length === 0 ? all.slice(0, 1) : within).toReversed());
}

/**
 * Every offset of a zone, oldest first. The first one begins at "", which sorts before every
 * instant.
 */
function offsetsOf(timezone: string): readonly Offset[] {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: knownZone(timezone) ?? "UTC",
    timeZoneName: "longOffset",
  });
  const offsetAt = (millis: number): number => {
    const name = format.formatToParts(millis).find(({ type }) => type === "timeZoneName")?.value;
    const [, sign, hours, minutes = "0"] = /GMT([+-])(\d+):?(\d+)?/.exec(name ?? "") ?? [];
    return hours === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
  };
  let offset = offsetAt(earliest);
  const offsets: Offset[] = [["", offset]];
  for (let at = earliest; at < latest;) {
    // Changes are found to the minute. One that is undone within the same step of two weeks is
    // missed, as in America/Argentina/Tucuman in June 2004.
    const next = at + 14 * dayMillis;
    if (offsetAt(next) !== offset) {
      let [before, after] = [at, next];
      while (after - before > 1_000) {
        const middle = Math.floor((before + after) / 2);
        if (offsetAt(middle) === offset) before = middle;
        else after = middle;
      }
      offset = offsetAt(next);
      offsets.push([new Date(Math.round(after / 60_000) * 60_000).toISOString(), offset]);
    }
    at = next;
  }
  return offsets;
}

const formats = {
  hour: "'%Y-%m-%dT%H:00:00'",
  day: "'%Y-%m-%dT00:00:00'",
  week: "'%Y-%m-%dT00:00:00'",
  month: "'%Y-%m-01T00:00:00'",
} as const;

/**
 * Prints the local beginning of the period that a time or date is in. A date is not shifted by the
 * zone.
 */
export function truncateTime(
  text: string,
  unit: keyof typeof formats,
  type: string,
  zone: string,
): string {
  const offset = `(SELECT z."value" ->> 1 FROM json_each(${zone}) z WHERE z."value" ->> 0 <= ${text} LIMIT 1)`;
  const shift = type === "date" ? `json_array_length(${zone}) * 0` : offset;
  // To the Monday on or before: six days back, then forward to a Monday. SQLite has no year after
  // 9999.
  const back = unit === "week" ? ", '-6 days', 'weekday 1'" : "";
  const local = `strftime(${formats[unit]}, ${text}, (${shift}) || ' minutes'${back})`;
  // Like PostgreSQL's, years have four digits from 0001 on.
  return `(SELECT CASE WHEN l."value" >= '0001' THEN l."value" END FROM (SELECT ${local} AS "value") l)`;
}
