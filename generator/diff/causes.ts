// Groups changes by their causes: a removed field is one cause, however many operations, filters
// and sorts it affects.
import { levels, type Change, type ChangeLevel, type ChangeSubject } from "../compare/change.js";
import { propertiesOf, referredType, type JsonSchema } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { DocumentModel, ViewModel } from "../model/document-model.js";
import { documentOf, ledTo, readBy, applyView } from "../model/views.js";
import type { RegistryModel } from "../model/registry.js";
import { derivedTypes, typesOf } from "./derived-types.js";
import { documentBehind, documentCalled, renamedDocuments } from "./renames.js";

export interface Cause {
  /** One sentence, which also identifies the cause: an approval repeats it. */
  readonly text: string;
  /** The first level that one of its changes has. */
  readonly level: ChangeLevel;
  /** Whether opening it also requires clients to change; absent if it doesn't. */
  readonly breaks?: true;
  readonly area: Change["area"];
  readonly subject: ChangeSubject;
  /** The field of the subject; absent if the cause isn't about one field. */
  readonly field?: string;
  /** Operations, events and commands in which clients meet changes of this level, sorted. */
  readonly affects: readonly string[];
  /** All changes that follow from it, including its own. */
  readonly changes: readonly Change[];
}

/** The beginning of a text that is the same for several operations. */
export const each = "each of these operations ";

/** Gathers changes under their causes, in the order of the changes. */
export function causesOf(
  changes: readonly Change[],
  before: RegistryModel,
  after: RegistryModel,
): readonly Cause[] {
  const fields = new FieldCauses(changes, before, after);
  const repeated = repeatedTexts(changes);
  const groups = new Map<string, Change[]>();
  for (const change of changes) {
    const key = change.cause ?? fields.of(change) ?? repeated(change) ?? change.text;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  const causes = [...groups].flatMap(([key, group]) =>
    apart(group).map((part) => causeFrom(key, part, fields)),
  );
  return causes.sort((left, right) => levels.indexOf(left.level) - levels.indexOf(right.level));
}

/**
 * Whoever approves what opens hasn't approved what breaks: two causes, the first with whatever is
 * harmless.
 */
function apart(group: readonly Change[]): readonly (readonly Change[])[] {
  const breaking = group.filter(({ level }) => level === "breaking");
  if (breaking.length === 0 || !group.some(({ level }) => level === "opens")) return [group];
  return [group.filter((change) => !breaking.includes(change)), breaking];
}

function causeFrom(key: string, changes: readonly Change[], fields: FieldCauses): Cause {
  const level = levels.find((one) => changes.some((change) => change.level === one)) ?? "additive";
  const worst = changes.filter((change) => change.level === level);
  const first = worst[0] ?? changes[0];
  if (first === undefined) throw new Error(`no change has the cause ${key}`);
  const place = fields.placeOf(key);
  const whats = changes.flatMap((change) =>
    change.level === level && change.at !== undefined && fields.isAt(key, change)
      ? [change.at.what]
      : [],
  );
  // A consequence stands alone if there is no change at its cause's own place.
  const told = [...new Set(whats)].join(", ");
  const types = changes.flatMap((change) =>
    fields.isAt(key, change) ? [change.subject.name] : [],
  );
  // If the type itself hasn't changed, only a payload has.
  const type = place === undefined || types.includes(place.type) ? place?.type : types[0];
  return {
    text: place === undefined ? key : told === "" ? first.text : `${type}${place.path} ${told}`,
    level,
    ...(changes.some(({ breaks }) => breaks === true) ? { breaks: true } : {}),
    area: first.area,
    subject: place === undefined ? first.subject : { kind: "type", name: place.type },
    ...(place === undefined ? {} : { field: place.path.slice(1).replaceAll("[]", "") }),
    affects: [...new Set(worst.flatMap(({ affects }) => affects))].sort(),
    changes,
  };
}

/** Changes with the same words for several operations are one cause, such as a changed policy. */
function repeatedTexts(changes: readonly Change[]): (change: Change) => string | undefined {
  const keyOf = ({ subject, text, at, cause }: Change): string | undefined =>
    subject.kind === "operation" && at === undefined && cause === undefined
      ? text.slice(subject.name.length + 1)
      : undefined;
  const counts = new Map<string, number>();
  for (const change of changes) {
    const key = keyOf(change);
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (change) => {
    const key = keyOf(change);
    // Each addition or removal is a cause of its own.
    if (key === undefined || key === "is gone" || key === "is new") return undefined;
    return (counts.get(key) ?? 0) > 1 ? `${each}${key}` : undefined;
  };
}

interface Place {
  readonly type: string;
  readonly path: string;
}

/** Changes of fields of types, and their effects on types that are derived from documents. */
class FieldCauses {
  readonly #before: RegistryModel;
  readonly #after: RegistryModel;
  readonly #places = new Map<string, Place>();
  readonly #documents: ReadonlyMap<string, DocumentModel>;
  /** Views by the types that are theirs. */
  readonly #views: ReadonlyMap<string, DocumentModel>;
  readonly #called = new Map<string, string>();
  readonly #documentTypes: ReadonlyMap<string, string>;

  constructor(changes: readonly Change[], before: RegistryModel, after: RegistryModel) {
    this.#before = before;
    this.#after = after;
    const documents = [before, after].flatMap((model) => Object.values(model.documents));
    this.#documents = new Map(
      documents.flatMap((document) =>
        derivedTypes(document).map(([type]) => [type, document] as const),
      ),
    );
    this.#views = new Map(
      documents.flatMap((document) =>
        document.views.map((view) => viewTypes(document, view)).flat(),
      ),
    );
    this.#documentTypes = new Map(
      [...renamedDocuments(before, after)].flatMap(([document, called]) =>
        typesOf(before.documents[document]).map(
          (type, at) =>
            [
              JSON.stringify([type, typesOf(after.documents[called])[at]]),
              documentCalled(document, called),
            ] as const,
        ),
      ),
    );
    for (const change of changes) {
      const place = this.#primary(change);
      if (place !== undefined) this.#enter(place, change);
    }
    // A member of a view is a cause unless it is one of the document.
    for (const change of changes) {
      const place = this.#shown(change);
      if (place !== undefined && this.of(change) === undefined) this.#enter(place, change);
    }
  }

  #enter(place: Place, change: Change): void {
    this.#places.set(keyOf(place), place);
    const called = change.at?.called;
    if (called === undefined) return;
    const next = place.path.replace(/[^.]*$/, called);
    this.#called.set(keyOf({ ...place, path: next }), keyOf(place));
  }

  /** The key of a change's cause; undefined if it is about no field. */
  of(change: Change): string | undefined {
    const { at, subject } = change;
    if (at?.from !== undefined)
      return (
        this.#documentTypes.get(JSON.stringify([at.from, subject.name])) ??
        change.text.replace(/ in (?:input|answers)$/, "")
      );
    const primary = this.#primary(change);
    if (primary !== undefined) return keyOf(primary);
    const document = this.#documentOf(subject);
    if (document === undefined) return undefined;
    const field =
      change.field ??
      derivedTypes(document).find(([type]) => type === subject.name)?.[1] ??
      fieldIn(change, this.#fieldsOf(document.name));
    return (
      this.#ofField(document, field) ??
      this.#ofViews(change) ??
      this.#ofOther(document, nameIn(change))
    );
  }

  /** The cause at a member that belongs to the view alone. */
  #ofViews(change: Change): string | undefined {
    const { kind, name } = change.subject;
    const document = kind === "operation" ? this.#documentOf(change.subject) : undefined;
    const views = [
      ...(document?.views.map((view) => applyView(document, view)) ?? []),
      ...(kind === "document" ? [readBy(this.#after.documents, name) ?? []].flat() : []),
      ...(kind === "type" ? [this.#views.get(name) ?? []].flat() : []),
    ];
    return views
      .map((view) =>
        this.#ofField(view, change.field ?? fieldIn(change, this.#fieldsOf(view.name))),
      )
      .find((key) => key !== undefined);
  }

  placeOf(key: string): Place | undefined {
    return this.#places.get(key);
  }

  /** Whether a change is one of the place itself. */
  isAt(key: string, change: Change): boolean {
    const places = [this.#primary(change), this.#shown(change)];
    return places.some((place) => place !== undefined && keyOf(place) === key);
  }

  /** The place of a change in the type of a view. */
  #shown({ at, subject: { kind, name } }: Change): Place | undefined {
    if (kind !== "type" || at === undefined || at.path === "" || at.from !== undefined)
      return undefined;
    return this.#views.get(name)?.typeName === name ? { type: name, path: at.path } : undefined;
  }

  /**
   * The place of a change in a type that somebody declared; payloads of documents are their types.
   */
  #primary({ at, subject }: Change): Place | undefined {
    if (at === undefined || subject.kind !== "type" || at.path === "" || at.from !== undefined)
      return undefined;
    const document = this.#documents.get(subject.name);
    if (document === undefined) return { type: subject.name, path: at.path };
    const isPayload = [document.createTypeName, document.patchTypeName].includes(subject.name);
    if (!isPayload) return undefined;
    // A payload may spell out what its document refers to.
    const places = [this.#before, this.#after].map((model) =>
      placesOn(document, at.path.slice(1), model),
    );
    return places
      .flatMap((known) => known.slice(-1))
      .sort((left, right) => left.path.length - right.path.length)[0];
  }

  #documentOf({ kind, name }: ChangeSubject): DocumentModel | undefined {
    const { documents, operations } = this.#after;
    switch (kind) {
      case "type":
        return this.#documents.get(name);
      case "document":
        // Of a view, the whole document.
        return own(documents, documentOf(name));
      case "operation": {
        const operation = own(operations, name);
        return operation === undefined ? undefined : documentBehind(operation, this.#after);
      }
      default:
        return undefined;
    }
  }

  #fieldsOf(document: string): readonly string[] {
    const models = [this.#before, this.#after].map(({ documents }) => readBy(documents, document));
    return models.flatMap((model) => Object.keys({ ...model?.fields, ...model?.elements }));
  }

  /**
   * The cause at a field of another document, which a name leads to over references, the last
   * first.
   */
  #ofOther({ name: document }: DocumentModel, name: readonly string[]): string | undefined {
    return [this.#before, this.#after]
      .flatMap((model) => passedBy(name, document, model))
      .map(({ by, field }) => this.#ofField(by, field))
      .findLast((key) => key !== undefined);
  }

  /** The cause at a field or at one around it, the deepest first. */
  #ofField(document: DocumentModel, field: string | undefined): string | undefined {
    if (field === undefined) return undefined;
    const candidates = [this.#before, this.#after].flatMap((model) =>
      placesOn(document, field, model),
    );
    const keys = candidates.map(keyOf).map((key) => this.#called.get(key) ?? key);
    return keys.findLast((key) => this.#places.has(key));
  }
}

function keyOf({ type, path }: Place): string {
  return `field ${type}${path}`;
}

/**
 * The field of a document that a change in one of its other types is about: a value there, or the
 * end of a path.
 */
function fieldIn({ at }: Change, fields: readonly string[]): string | undefined {
  if (at === undefined) return undefined;
  const { value, path } = at;
  if (typeof value === "string" && fields.includes(value)) return value;
  const ends = fields.filter((field) => `${path.replaceAll("[]", "")}.`.includes(`.${field}.`));
  return ends.sort((left, right) => right.length - left.length)[0];
}

/**
 * The steps of the name that a change is at: a value such as `task.owner`, or a member such as
 * `$values.task.owner`.
 */
function nameIn({ at }: Change): readonly string[] {
  if (at === undefined) return [];
  const steps = (typeof at.value === "string" ? at.value : at.path.slice(1)).split(".");
  return steps.filter((step) => !step.startsWith("$"));
}

/** The types that are a view's own, with it. */
function viewTypes(
  document: DocumentModel,
  view: ViewModel,
): readonly (readonly [string, DocumentModel])[] {
  const model = applyView(document, view);
  const { createTypeName, patchTypeName } = document;
  return typesOf(model)
    .filter((type) => type !== createTypeName && type !== patchTypeName)
    .map((type) => [type, model] as const);
}

/**
 * Fields that a name passes: `task.owner` of comments is their `task`, and the `owner` of tasks.
 */
function passedBy(
  [step, ...rest]: readonly string[],
  document: string,
  model: RegistryModel,
): readonly { readonly by: DocumentModel; readonly field: string }[] {
  const at = readBy(model.documents, document);
  if (at === undefined || step === undefined) return [];
  const to = at.references.find(({ field }) => field === step);
  if (to !== undefined)
    return [
      { by: at, field: step },
      ...passedBy(rest, to.document, model),
      ...(to.view === undefined ? [] : passedBy(rest, ledTo(to), model)),
    ];
  const [member = ""] = rest;
  const by = own(model.documents, step);
  const isNaming = by?.references.some((one) => one.field === member && one.document === document);
  if (by !== undefined && isNaming === true) return [{ by, field: member }];
  return [{ by: at, field: [step, ...rest].join(".") }];
}

/**
 * Places that a field of a document stands at: in its own type, and in the types that it refers to
 * on the way.
 */
function placesOn(
  { typeName }: DocumentModel,
  field: string,
  { types }: RegistryModel,
): readonly Place[] {
  const places: Place[] = [];
  let place: Place = { type: typeName, path: "" };
  let schema: JsonSchema = types[typeName] ?? true;
  for (const step of field.split(".")) {
    place = { ...place, path: `${place.path}.${step}` };
    places.push(place);
    const depth = step.split("[]").length - 1;
    schema = own(propertiesOf(schema), step.replaceAll("[]", "")) ?? true;
    for (let at = 0; at < depth; at += 1) schema = itemsOf(schema);
    const type = referredType(schema);
    if (type === undefined) continue;
    place = { type, path: "" };
    schema = types[type] ?? true;
  }
  return places;
}

function itemsOf(schema: JsonSchema): JsonSchema {
  return typeof schema === "object" ? ((schema["items"] ?? true) as JsonSchema) : true;
}
