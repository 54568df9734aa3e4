// Finds where a value can't be JSON: only once an answer has failed, so that usual answers don't
// pay for it.
import { pointer } from "../contract/json-pointer.js";
import type { ValidationFault } from "../contract/validation.js";

/** The first place of a value that JSON cannot hold: a getter that throws, a circle, a BigInt. */
export function unprintable(value: unknown): ValidationFault {
  return (
    search(value, "", new Set()) ?? { path: "", keyword: "type", message: "cannot be made JSON" }
  );
}

function search(
  value: unknown,
  path: string,
  around: ReadonlySet<unknown>,
): ValidationFault | undefined {
  const found = (message: string): ValidationFault => ({ path, keyword: "type", message });
  if (typeof value === "bigint") return found("is a BigInt");
  if (typeof value !== "object" || value === null) return undefined;
  if (around.has(value)) return found("is circular");
  const within = new Set(around).add(value);
  for (const name of membersOf(value)) {
    const at = pointer(path, name);
    let member: unknown;
    try {
      member = (value as Readonly<Record<string, unknown>>)[name];
    } catch {
      return { path: at, keyword: "type", message: "cannot be read: its getter throws" };
    }
    const fault = search(member, at, within);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The names of its members, those of getters of its class among them. */
function membersOf(value: object): readonly string[] {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isOwnClass =
    typeof prototype === "object" &&
    prototype !== null &&
    prototype !== Object.prototype &&
    prototype !== Array.prototype;
  return [
    ...Object.keys(value),
    ...(isOwnClass
      ? Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor")
      : []),
  ];
}
