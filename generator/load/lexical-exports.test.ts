// What plain text tells of exports agrees with what a compiler reads, and is silent where it does
// not know.
import { expect, test } from "vitest";
import { lexicalExports } from "./lexical-exports.js";
import { readExports } from "./module-exports.js";

const text = `
export const a = (input: { readonly x: Map<string, number> }, context: Context) => ({});
export const b: TasksDoneHandler = async ({ id }, context) => undefined;
export async function c<T>(input: T) {}
export function d(input: string, context?: Context, ...rest: number[]): void {}
export const e = (input = { x: 1 }, context: Context) => 1;
export const f = () => 1;
export const g = (function () {})();
export const h = wrap((input) => input);
const i = () => 1;
export { i };
`;

test("agrees with the syntax tree on every function that it names", () => {
  const read = new Map(readExports("x.ts", text).exports.map((facts) => [facts.name, facts]));
  const told = lexicalExports(text);
  expect(told.map(({ name }) => name)).toEqual(["a", "b", "d", "e", "f"]);
  for (const { name, ...facts } of told) expect({ name, ...facts }).toEqual(read.get(name));
});
