// Values that a member takes and did not take before: the version before reads them, and answers
// what its own type doesn't have.
import { isDeepStrictEqual } from "node:util";
import { narrowings } from "../../../kernel/row-fits.js";
import { resolveSchema, type Resolve } from "../../../kernel/resolve.js";
import { holdsLater } from "../../../kernel/written-later.js";
import { isWrittenLater, laterValues } from "../../../load/written-later.js";
import {
  need,
  refersToChanged,
  type Need,
  type Rolling,
  type RolloutSide,
} from "../../../compare/rollout.js";
import { firstShape } from "../../../../runtime/contract/shapes.js";
import { storedName } from "../../../../runtime/contract/stored-members.js";
import {
  propertiesOf,
  omitDescriptions,
  withoutNull,
  type JsonSchema,
} from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import type { DocumentModel } from "../../../model/document-model.js";
import type { TableSchema } from "../../../model/stored-tables.js";
import { isCutEitherWay } from "./nested-widening.js";

/**
 * Members that take more values than before: the version before reads them, and answers what its
 * own type doesn't have.
 */
export function needsOfWidening(
  { name, table, fields, former, bodySchema }: DocumentModel,
  rolling: Rolling,
): readonly Need[] {
  const { before, after } = rolling;
  const tables = [own(before.database.tables, table), own(after.database.tables, table)] as const;
  const [was, is] = tables;
  if (was === undefined || is === undefined) return [];
  const scalars = wider(was, is, former).flatMap(({ member, words }) => {
    const later = laterValuesOf(propertiesOf(bodySchema)[member], typesOf(after));
    const before = own(was.fits ?? {}, own(former, member)?.name ?? member)?.values ?? [];
    const values = own(is.fits ?? {}, member)?.values ?? [];
    // What nobody writes yet, nobody reads.
    const isLater = values.every((value) => before.includes(value) || later.includes(value));
    return later.length > 0 && isLater ? [] : [`${name}.${member} may be ${words}`];
  });
  const known = Object.values(before.model.documents).find((other) => other.table === table);
  const toldScalars = new Set(wider(was, is, former).map(({ member }) => member));
  const others = Object.keys(propertiesOf(bodySchema)).filter((member) => {
    const called = own(former, member)?.name ?? member;
    const [old, next] = [
      propertiesOf(known?.bodySchema ?? true)[called],
      propertiesOf(bodySchema)[member],
    ];
    if (old === undefined || next === undefined || toldScalars.has(member)) return false;
    // Another type is told by itself.
    if (own(known?.fields ?? {}, called) !== own(fields, member)) return false;
    const isSame = isDeepStrictEqual(...([old, next].map(unbound) as [unknown, unknown]));
    if (isSame && !refersToChanged(next, rolling)) return false;
    // Each version cuts members within that it doesn't know, provided that its rows are known by
    // them.
    const isKnown = [was, is].every(
      ({ shape = firstShape }, at) =>
        own(shape.nested?.members ?? {}, storedName(shape, at === 0 ? called : member)) !==
        undefined,
    );
    const types = [typesOf(before), typesOf(after)] as const;
    return !isKnown || !isCutEitherWay({ schemas: [old, next], types });
  });
  return [
    ...scalars,
    ...others.map((member) => `${name}.${member} has other values, or members within it`),
  ].flatMap((what) =>
    need(
      "needs two releases",
      `${what}: the version before answers such values although its own document has none, and may refuse to change them; first roll out what only reads them (\`since: next\` of a new value or member, a \`before\` hook for the rest), then what writes them`,
    ),
  );
}

/** Values that are written later, and those of now: the previous version reads both. */
export function laterWrites(
  { name, table, bodySchema }: DocumentModel,
  { before, after }: Rolling,
): readonly Need[] {
  const known = Object.values(before.model.documents).find((other) => other.table === table);
  return Object.entries(propertiesOf(bodySchema)).flatMap(([member, schema]) => {
    const was = propertiesOf(known?.bodySchema ?? true)[member];
    const [now, then] = [
      laterOf(schema, typesOf(after)),
      was === undefined ? [] : laterOf(was, typesOf(before)),
    ];
    const written = then.filter((one) => !now.includes(one));
    return [
      ...now.flatMap((one) =>
        need(
          "safe to roll",
          `${name}.${member} is read with ${one}, and written so from the release on that drops \`since\`: drop it once no process is left that doesn't read it`,
        ),
      ),
      ...written.flatMap((one) =>
        need(
          "safe to roll",
          `${name}.${member} is written with ${one} from now on, which the version before reads: no process from before that may be left`,
        ),
      ),
    ];
  });
}

/** The values of a member that are written later, or the member itself. */
function laterOf(schema: JsonSchema, resolve: Resolve): readonly string[] {
  if (isWrittenLater(schema)) return ["a value"];
  const values = laterValuesOf(schema, resolve);
  if (values.length > 0) return values;
  return holdsLater(schema, resolve) ? ["what is new within it"] : [];
}

function laterValuesOf(schema: JsonSchema | undefined, resolve: Resolve): readonly string[] {
  return schema === undefined ? [] : laterValues(resolveSchema(withoutNull(schema), resolve));
}

function typesOf({ model }: RolloutSide): Resolve {
  return (type) => own(model.types, type);
}

function wider(was: TableSchema, is: TableSchema, former: DocumentModel["former"]) {
  const called = new Map(
    Object.entries(former).map(([field, { name }]) => [name ?? field, field] as const),
  );
  const isCalled = (member: string): string => called.get(member) ?? member;
  const typeOf = ({ fits = {} }: TableSchema, member: string): string => {
    const { type = "", kind = "" } = own(fits, member) ?? {};
    return type === "integer" ? "number" : `${type}${kind}`;
  };
  return (
    narrowings(is.fits ?? {}, was.fits ?? {}, was.shape ?? firstShape, isCalled)
      // Another type is told by itself.
      .filter(({ member }) => typeOf(was, member) === typeOf(is, isCalled(member)))
      .map(({ member, faults }) => ({
        member: isCalled(member),
        words: faults.map(({ words }) => words).join(" or "),
      }))
  );
}

/**
 * A schema without what only people read, and without the bounds of which it is known whether they
 * are wider.
 */
function unbound(schema: unknown): unknown {
  const told = omitDescriptions(schema);
  if (typeof told !== "object" || told === null) return told;
  const { type, enum: values, ...rest } = told as Readonly<Record<string, unknown>>;
  const isOfTexts =
    Array.isArray(values) && values.every((one) => one === null || typeof one === "string");
  const others = Object.entries(rest).filter(
    ([key]) => !/^(?:m(?:in|ax)Length|(?:exclusiveM|m)(?:in|ax)imum)$/.test(key),
  );
  return {
    ...Object.fromEntries(others),
    ...(isOfTexts ? {} : { enum: values }),
    of: kindOf(type),
  };
}

/** Types without null: whether a value may be null is known. Each integer is a number. */
function kindOf(type: unknown): unknown {
  const kinds = [type].flat().filter((one) => one !== "null");
  return kinds.map((one) => (one === "integer" ? "number" : one));
}
