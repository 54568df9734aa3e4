// Three-way merge of a patch made on an old revision (decisions.md "Documents": history on).
import { fail } from "../../contract/errors.js";
import { jsonEqual } from "../../contract/validation.js";
import { changedPaths, overlappingPaths, valueAt } from "./changes.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * Merges `mine` (the patched old revision) into `current`. Edits of different places merge; both sides writing the same
 * value is no conflict. Throws `historical_consistency_violation` with the dotted fields where edits overlap.
 */
export function mergeThreeWay(base: Body, mine: Body, current: Body): Body {
  const changes = changedPaths(base, mine);
  const conflicts = overlappingPaths(changes, changedPaths(base, current)).filter(
    (path) => !jsonEqual(valueAt(mine, path), valueAt(current, path)),
  );
  if (conflicts.length > 0) {
    throw fail("historical_consistency_violation", {
      fields: conflicts.map((path) => path.join(".")),
    });
  }
  return changes.reduce<Body>(
    (merged, path) => withValue(merged, path, valueAt(mine, path)),
    current,
  );
}

function withValue(body: Body, path: readonly string[], value: unknown): Body {
  const [step, ...rest] = path;
  if (step === undefined) return body;
  if (rest.length > 0) {
    const inner = body[step];
    const object = typeof inner === "object" && inner !== null ? (inner as Body) : {};
    return { ...body, [step]: withValue(object, rest, value) };
  }
  if (value !== undefined) return { ...body, [step]: value };
  const { [step]: _removed, ...others } = body;
  return others;
}
