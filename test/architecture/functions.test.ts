// A function is a verb with its object (docs/design/style.md): `readMailbox`, not `read` of whatever it was.
import { expect, test } from "vitest";
import type { SourceFile } from "./house.js";
import { sources } from "./sources.js";

/** Exported functions whose name is a participle and nothing else. The list only shrinks. */
const left = [
  "answered",
  "compiled",
  "copied",
  "draining",
  "folded",
  "following",
  "guarded",
  "lasting",
  "mapped",
  "merged",
  "mocked",
  "named",
  "naming",
  "parsed",
  "raced",
  "renamed",
  "renewed",
  "replying",
  "resolved",
  "searching",
  "shared",
  "storing",
  "subscribing",
  "suggested",
  "testing",
  "truncated",
  "unchanged",
  "unscoped",
  "viewed",
];

/** Participles that don't end in -ed or -ing. */
const irregular =
  "told said kept held found made given written shown known taken chosen frozen hidden sent led met gone seen thawed left lost".split(
    " ",
  );

/** Names of exported functions that are a participle alone. */
function participles(files: readonly SourceFile[]): readonly string[] {
  const names = files.flatMap(({ text }) =>
    [...text.matchAll(/^export (?:async )?function\*? ?([a-z]+)\b/gm)].map(([, name = ""]) => name),
  );
  const isParticiple = (name: string): boolean =>
    irregular.includes(name) ||
    (/(?:ed|ing)$/.test(name) && !/^(?:ping|bring|feed|need)$/.test(name));
  return [...new Set(names.filter(isParticiple))].toSorted();
}

test("exported functions are called by what they do", () => {
  expect(participles(["generator", "runtime", "client"].flatMap(sources))).toEqual(left);
});

test("a further participle is caught", () => {
  const text = "export async function translated(error: unknown): Promise<void> {}";
  expect(participles([{ path: "runtime/http/reply.ts", text }])).toEqual(["translated"]);
});
