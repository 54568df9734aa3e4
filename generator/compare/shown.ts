// What types show of documents: an answer that had a view may have the whole document from now on.
import type { RegistryModel } from "../model/registry.js";
import { propertiesOf } from "../model/json-schema.js";
import { own } from "../model/records.js";

interface Shown {
  readonly document: string;
  readonly members: readonly string[];
}

/** What types show, by their names, of the registry before and of the one after. */
export type ShownTypes = readonly ReadonlyMap<string, Shown>[];

/** The types of documents and of their views, with what each shows. */
export function shownBy({ documents, types }: RegistryModel): ReadonlyMap<string, Shown> {
  return new Map(
    Object.values(documents).flatMap(({ name: document, typeName, readTypeName, views }) => {
      const members = Object.keys(propertiesOf(own(types, typeName) ?? true));
      const all = [{ typeName, readTypeName, members }, ...views];
      return all.flatMap((one) =>
        [one.typeName, one.readTypeName].map(
          (type) => [type, { document, members: one.members }] as const,
        ),
      );
    }),
  );
}

/** Members that the second of two types shows of the document of which the first showed others; none if it isn't the same one. */
export function shownMore(
  [before, after]: ShownTypes,
  from: string,
  to: string,
): readonly string[] {
  const [was, is] = [before?.get(from), after?.get(to)];
  if (was === undefined || is === undefined || was.document !== is.document) return [];
  return is.members.filter((member) => !was.members.includes(member));
}
