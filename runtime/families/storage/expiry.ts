// How long a signed request is good for: seconds, or a duration of ISO 8601 (decisions.md "Object
// storage").
import { fail } from "../../contract/errors.js";

const longestSeconds = 7 * 86_400;

/** Seconds from 1 to 7 days. Throws `core.validation` at `/expires_in`. */
export function readExpiry(given: number | string): number {
  const seconds = typeof given === "number" ? given : durationSeconds(given);
  if (seconds !== null && seconds >= 1 && seconds <= longestSeconds) return Math.floor(seconds);
  const message = "must be from 1 second to 7 days";
  throw fail("core.validation", {
    errors: [{ path: "/expires_in", keyword: "maximum", message }],
  });
}

/** `P1DT2H`, `PT15M`, `PT30S`, `P1W`; null if it is none. Months and years have no length. */
function durationSeconds(text: string): number | null {
  const match =
    /^P(?:(\d{1,5})W|(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?)$/.exec(
      text,
    );
  if (match === null || /^P$|T$/.test(text)) return null;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  return weeks * 604_800 + days * 86_400 + hours * 3_600 + minutes * 60 + seconds;
}
