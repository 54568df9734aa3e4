// Random registries of documents that name each other and may not be alike, and the versions that follow them.
import type { Draw } from "../registries/draw.js";

export type Departure = "restrict" | "cascade" | "set_null";

/** A member that names documents. */
export interface Reference {
  readonly member: string;
  readonly target: string;
  readonly onDelete: Departure;
  readonly isNullable: boolean;
}

/** Members that no two documents have the same of. */
export interface Unique {
  readonly fields: readonly string[];
  readonly isOfLive: boolean;
  readonly isGlobal: boolean;
}

/** Documents of a version. Members go by the names that rows have; `called` has those that this version gave others. */
export interface Kind {
  readonly name: string;
  readonly softDelete: boolean;
  readonly members: Readonly<Record<string, string>>;
  readonly references: readonly Reference[];
  readonly unique: readonly Unique[];
  readonly called: Readonly<Record<string, string>>;
}

export type Version = readonly Kind[];

export const calledOf = ({ called }: Kind, member: string): string => called[member] ?? member;

/** Documents of two or three types: each has a note that every write changes, and two numbers of which few are different. */
export function firstVersion(draw: Draw): Version {
  const names = ["alphas", "betas", "gammas"].slice(0, 2 + draw.below(2));
  const softly = new Map(names.map((name) => [name, draw.chance(60)]));
  return names.map((name, at): Kind => {
    const softDelete = softly.get(name) ?? false;
    const references = draw
      .some(["one", "two"], 1, 2)
      .map((member) => referenceOf(draw, member, names, at, softly));
    return {
      name,
      softDelete,
      members: { note: "string", code: "integer", kind: "integer?" },
      references,
      unique: draw
        .some([["code"], ["code", "kind"], ["kind", references[0]?.member ?? "code"]], 1, 2)
        .map((fields) => ({
          fields,
          isOfLive: softDelete && draw.chance(50),
          isGlobal: draw.chance(25),
        })),
      called: {},
    };
  });
}

function referenceOf(
  draw: Draw,
  member: string,
  names: readonly string[],
  at: number,
  softly: ReadonlyMap<string, boolean>,
): Reference {
  const target = draw.pick(names);
  // What must name another one names a type before it: some must be there first.
  const isNullable = names.indexOf(target) >= at || draw.chance(60);
  return {
    member,
    target,
    isNullable,
    onDelete: departure(draw, names[at], target, isNullable, softly),
  };
}

/** What is only marked takes along only what can be marked. */
function departure(
  draw: Draw,
  name: string | undefined,
  target: string,
  isNullable: boolean,
  softly: ReadonlyMap<string, boolean>,
): Departure {
  const mayCascade = softly.get(target) !== true || softly.get(name ?? "") === true;
  return draw.pick<Departure>([
    "restrict",
    ...(mayCascade ? (["cascade", "cascade"] as const) : []),
    ...(isNullable ? (["set_null"] as const) : []),
  ]);
}

/** The version that follows: members have other names, rules come, go, and say something else. */
export function nextVersion(draw: Draw, before: Version, number: number): Version {
  const softly = new Map(before.map(({ name, softDelete }) => [name, softDelete]));
  return before.map((kind): Kind => {
    const { name, references, unique, members, called } = kind;
    const renamed = draw.some(
      [...Object.keys(members), ...references.map((one) => one.member)],
      0,
      2,
    );
    const badge = `badge${number}`;
    const isBadged = draw.chance(40);
    const dropped = references.filter(() => draw.chance(10));
    return {
      ...kind,
      members: {
        ...members,
        // What was a reference is an id still.
        ...Object.fromEntries(
          dropped.map((one) => [one.member, one.isNullable ? "uuid?" : "uuid"]),
        ),
        ...(isBadged ? { [badge]: "integer?" } : {}),
      },
      references: references
        .filter((one) => !dropped.includes(one))
        .map((one) =>
          draw.chance(30)
            ? { ...one, onDelete: departure(draw, name, one.target, one.isNullable, softly) }
            : one,
        ),
      unique: [
        // Upserts need one.
        ...unique.filter((_rule, at) => at === 0 || !draw.chance(30)),
        ...(isBadged ? [{ fields: [badge], isOfLive: false, isGlobal: draw.chance(50) }] : []),
      ],
      called: {
        ...called,
        ...Object.fromEntries(renamed.map((member) => [member, `${member}_${number}`])),
      },
    };
  });
}

/** The registry of a version that follows another one; its documents stand where they always stood. */
export function registryOf(
  version: Version,
  before: Version = version,
): Readonly<Record<string, string>> {
  const documents = version.map((kind, at) => {
    const { name, softDelete, members, references, unique } = kind;
    const was = (member: string): string => {
      const [old, now] = [calledOf(before[at] ?? kind, member), calledOf(kind, member)];
      return old === now ? "" : `, was: ${old}`;
    };
    const lines = [
      ...Object.entries(members).map(
        ([member, type]) => `      ${calledOf(kind, member)}: ${typeText(type, was(member))}`,
      ),
      ...references.map(
        ({ member, target, onDelete, isNullable }) =>
          `      ${calledOf(kind, member)}: {ref: ${target}${isNullable ? "?" : ""}, on_delete: ${onDelete}${was(member)}}`,
      ),
    ];
    const rules = unique.map(
      ({ fields, isOfLive, isGlobal }) =>
        `{fields: [${fields.map((field) => calledOf(kind, field)).join(", ")}]${isOfLive ? ", where: not_deleted" : ""}${isGlobal ? ", global: true" : ""}}`,
    );
    return `  ${name}:
    type:
${lines.join("\n")}
    guard: open
    soft_delete: ${softDelete}
    history: {revisions: true}
    bulk: {max: 50}
    upsert: true
    unique: [${rules.join(", ")}]`;
  });
  return {
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {open: []}
documents:
${documents.join("\n")}
search:
${version.map((kind) => `  ${kind.name}_search: {of: ${kind.name}, text: [${calledOf(kind, "note")}], guard: open}`).join("\n")}
`,
  };
}

function typeText(type: string, was: string): string {
  if (was === "") return type;
  const named = type.replace("?", "");
  const [base, format] = named === "uuid" ? ["string", ", format: uuid"] : [named, ""];
  return `{type: ${type.endsWith("?") ? `[${base}, "null"]` : base}${format}${was}}`;
}
