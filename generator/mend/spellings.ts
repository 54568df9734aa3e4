// Spellings of durations, sizes, rates, paths, references and versions that other systems have, and
// how the registry writes them.
import type { TextForm } from "../load/shape.js";
import { nameLike } from "./names.js";

/** How the registry could write what a value says: nothing if it says several things. */
export function respelt(form: TextForm, source: string): readonly string[] {
  const spelt = spellings[form](source.trim());
  return spelt === undefined ? [] : [spelt].flat();
}

type Spelling = (source: string) => string | readonly string[] | undefined;

const spellings: Readonly<Record<TextForm, Spelling>> = {
  duration,
  bytes,
  rate,
  path,
  reference,
  version,
  name: nameLike,
};

const units: readonly (readonly [unit: string, words: RegExp, milliseconds: number])[] = [
  ["ms", /^(?:ms|msecs?|millis|milliseconds?)$/i, 1],
  ["s", /^(?:s|secs?|seconds?)$/i, 1_000],
  // A capital M is a month to some.
  ["m", /^(?:m|mins?|minutes?|Mins?|Minutes?)$/, 60_000],
  ["h", /^(?:h|hrs?|hours?)$/i, 3_600_000],
  ["d", /^(?:d|days?)$/i, 86_400_000],
];
const week = /^(?:w|wks?|weeks?)$/i;

/** `30 seconds`, `1.5h`, `2w`. A number alone has no unit: nobody knows which one is meant. */
function duration(source: string): string | undefined {
  const [, number = "", word = ""] = /^(\d+(?:\.\d+)?)\s*([a-zA-Z]+)$/.exec(source) ?? [];
  const [unit, , factor] = week.test(word)
    ? (["d", week, 7 * 86_400_000] as const)
    : (units.find(([, words]) => words.test(word)) ?? []);
  if (unit === undefined || factor === undefined) return undefined;
  if (Number.isInteger(Number(number)) && !week.test(word)) return `${Number(number)}${unit}`;
  const milliseconds = Number(number) * factor;
  // The largest unit of which it is a whole number.
  const fitting = units.findLast(([, , of]) => Number.isInteger(milliseconds / of));
  return fitting === undefined ? undefined : `${milliseconds / fitting[2]}${fitting[0]}`;
}

/**
 * `64 MiB`, `64Mi`, `1000000`. Of `64MB` nobody knows whether it is meant in steps of 1000 or of
 * 1024.
 */
function bytes(source: string): string | undefined {
  const [, number = "", word = ""] = /^(\d[\d_]*)\s*([a-zA-Z]*)$/.exec(source) ?? [];
  const count = number.replaceAll("_", "");
  if (count === "") return undefined;
  if (/^(?:|b|bytes?)$/i.test(word)) return `${count}B`;
  const [, prefix] = /^([kmgt])i(?:b|bytes?)?$/i.exec(word) ?? [];
  return prefix === undefined ? undefined : `${count}${prefix.toUpperCase()}iB`;
}

/** `100/min`, `100 per minute`, `100 / 5m`. */
function rate(source: string): string | undefined {
  const [, calls, number = "1", word = ""] =
    /^(\d+)\s*(?:\/|per|req(?:uests)?\s*(?:\/|per))\s*(\d*)\s*([a-zA-Z]+)$/.exec(source) ?? [];
  const [unit] = units.find(([, words]) => words.test(word)) ?? [];
  if (calls === undefined || unit === undefined) return undefined;
  return `${calls}/${number === "" ? "1" : number}${unit}`;
}

/** `tasks/:id`, `/tasks/<id>`, `GET /tasks`. */
function path(source: string): string | undefined {
  const bare = source
    .replace(/^(?:GET|POST|PUT|PATCH|DELETE)\s+/, "")
    .replaceAll(/(?<=^|\/):(\w+)(?=\/|$)/g, "{$1}")
    .replaceAll(/(?<=^|\/)<(?:\w+:)?(\w+)>(?=\/|$)/g, "{$1}")
    .replaceAll(/(?<=^|\/)\[(\w+)\](?=\/|$)/g, "{$1}")
    .replaceAll(/(?<=^|\/)\$\{(\w+)\}(?=\/|$)/g, "{$1}")
    .replaceAll(/\/{2,}/g, "/");
  return bare.startsWith("/") || /[:\s]/.test(bare) ? bare : `/${bare}`;
}

/** `registry/tasks.ts:complete`, `registry/tasks.ts#complete()`. */
function reference(source: string): string | undefined {
  const [, file, name] =
    /^([\w@./\\-]+\.(?:ts|mts|js|mjs))\s*(?:#|::?|\.|@|->)\s*([A-Za-z_$][\w$]*)(?:\(\))?$/.exec(
      source,
    ) ?? [];
  return file === undefined ? undefined : `${file.replaceAll("\\", "/")}#${name}`;
}

/** `1`, `1.0`, `v1.0.0`. */
function version(source: string): string | undefined {
  const [, numbers] = /^[vV]?(\d+(?:\.\d+){0,2})$/.exec(source) ?? [];
  if (numbers === undefined) return undefined;
  const parts = numbers.split(".").map(Number);
  return [0, 1, 2].map((at) => String(parts[at] ?? 0)).join(".");
}
