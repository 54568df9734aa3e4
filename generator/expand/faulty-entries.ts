// What can be said of declarations that were left out for a fault: their types and policies are
// read as well, so that findings that have nothing to do with each other come at once.
import { unknownPolicy } from "../kernel/guards.js";
import type { LoadedRegistry } from "../load/load.js";
import { alternativeOf, isMap, membersOf, type FormatShape } from "../load/shape.js";
import type { TypeReader } from "../load/types.js";
import type { Report } from "../diagnostics/diagnostics.js";
import { own } from "../model/records.js";
import { registryShape } from "./registry-shape.js";

/** A value of a faulty declaration that is read, with its path in the tree. */
interface Part {
  readonly shape: FormatShape;
  readonly value: unknown;
  readonly path: readonly (string | number)[];
}

/** Reports what is wrong with types and policies of faulty declarations. */
export function readFaultyEntries(
  { tree, faulty }: LoadedRegistry,
  types: TypeReader,
  report: Report,
): void {
  const policies = Object.keys(tree.section("policies"));
  for (const { shape, value, path } of faulty.flatMap((entry) => partsAt(tree.root, entry))) {
    const at = tree.at(...path);
    if (shape.kind === "any" && shape.isType === true && value !== null)
      types.readType(value, at, "Faulty");
    if (shape.kind !== "name" || shape.of !== "policies" || typeof value !== "string") continue;
    if (!policies.includes(value))
      report({ code: "OPW050", ...unknownPolicy(value, policies), at });
  }
}

/** The parts of a faulty declaration, or of a whole section. */
function partsAt(root: unknown, entry: readonly string[]): readonly Part[] {
  const [section, name] = entry;
  const shape = section === undefined ? undefined : own(registryShape.members, section)?.shape;
  if (section === undefined || shape === undefined || !isMap(root)) return [];
  const content = root[section];
  if (shape.kind !== "map") return parts({ shape, value: content, path: [section] });
  if (name === undefined || !isMap(content)) return [];
  return parts({ shape: shape.of, value: content[name], path: [section, name] });
}

function parts({ shape, value, path }: Part): readonly Part[] {
  switch (shape.kind) {
    case "any":
    case "name":
      return [{ shape, value, path }];
    case "list":
      return Array.isArray(value)
        ? value.flatMap((item, at) => parts({ shape: shape.of, value: item, path: [...path, at] }))
        : [];
    case "map":
      return entries(value).flatMap(([key, item]) =>
        parts({ shape: shape.of, value: item, path: [...path, key] }),
      );
    case "object":
    case "choice":
      return entries(value).flatMap(([key, item]) => {
        const member = own(membersOf(shape), key);
        return member === undefined
          ? []
          : parts({ shape: member.shape, value: item, path: [...path, key] });
      });
    case "either": {
      const alternative = alternativeOf(shape, value);
      return alternative === undefined ? [] : parts({ shape: alternative, value, path });
    }
    default:
      return [];
  }
}

function entries(value: unknown): readonly (readonly [string, unknown])[] {
  return isMap(value) ? Object.entries(value) : [];
}
