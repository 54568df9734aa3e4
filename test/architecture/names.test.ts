// One name per concept: an exported type is declared once, unless generator, runtime and client each have their side of it.
import { expect, test } from "vitest";
import { sharedNames } from "./house.js";
import { sources } from "./sources.js";

/** Types of which each side has its own, and what they have in common. */
const sides: Readonly<Record<string, string>> = {
  Command: "a realtime command, as clients send it and as the service takes it",
  Family: "what the generator knows of a family, and what a service does",
  Operation: "an operation, as clients call it and as the service runs it",
  OperationDeclaration: "an operation, in the registry and in generated code",
  RealtimeSpec: "the events of a service, as its clients and as itself know them",
  ReplyDeclaration: "what a reply may say, in the model and in generated code",
  SearchDeclaration: "a search, in the registry and in generated code",
  Signal: "a signal, as the service stores it and as clients take it",
};

const files = ["client", "generator", "runtime"].flatMap(sources);

test("no two exported types are called alike", () => {
  expect(sharedNames(files, Object.keys(sides))).toEqual([]);
});

test.each(["interface Outcome {", "class Writer {", "type Shape = string;"])(
  "catch a second %s",
  (declaration) => {
    const planted = { path: "runtime/ports/planted.ts", text: `export ${declaration}\n` };
    expect(sharedNames([...files, planted], Object.keys(sides))).toHaveLength(1);
  },
);

test("a side has no second type of the same name either", () => {
  const planted = { path: "runtime/ports/planted.ts", text: "export interface Operation {\n" };
  expect(sharedNames([...files, planted], Object.keys(sides))).toEqual([
    "Operation: runtime/operations/operation.ts, runtime/ports/planted.ts",
  ]);
});
