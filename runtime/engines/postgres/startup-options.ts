// The `options` of PostgreSQL's startup packet: switches such as `-c name=value`, separated by
// spaces; a backslash escapes the next character (PostgreSQL's manual, "libpq", `options`).

/** A setting of a session: its name and its value, as `set_config` takes them. */
export type SessionSetting = readonly [name: string, value: string];

const word = /(?:\\.|[^\s\\])+/gs;
const assignment = /^([A-Za-z_][\w.-]*)=(.*)$/s;

/**
 * The settings of `options`, in order. Reads `-c name=value`, `-cname=value` and `--name=value`;
 * throws a fault of any other switch.
 */
export function readStartupOptions(options: string): readonly SessionSetting[] {
  const words = (options.match(word) ?? []).map((one) => one.replaceAll(/\\(.)/gs, "$1"));
  const settings: SessionSetting[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [, flag = "", rest = ""] = /^(-c|--)(.*)$/s.exec(words[at] ?? "") ?? [];
    if (flag === "-c" && rest === "") at += 1;
    const text = rest === "" ? (words[at] ?? "") : rest;
    const [, name, value] = assignment.exec(text) ?? [];
    if (flag === "" || name === undefined || value === undefined)
      throw new Error(`has options that can't be read: ${words[at] ?? flag}`);
    settings.push([name.replaceAll("-", "_"), value]);
  }
  return settings;
}
