// Names of time zones, as authors write them.
import { didYouMean } from "../diagnostics/did-you-mean.js";
import type { Origin, Report } from "../diagnostics/diagnostics.js";

/** Reports a name that no time zone of the IANA database has. */
export function checkTimeZone(
  report: Report,
  code: "OPW090" | "OPW105",
  name: string,
  at: Origin,
): void {
  if (isTimeZone(name)) return;
  const known = Intl.supportedValuesOf("timeZone");
  // People write the city alone, or nearly the name.
  const city = known.find((one) => one.endsWith(`/${name}`));
  report({
    code,
    message: `${name} is no time zone`,
    at,
    suggestion: city ?? didYouMean(name, known),
    hint: "Name a zone of the IANA database, such as Europe/Berlin.",
  });
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
