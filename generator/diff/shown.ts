// Types that show documents: their own, and those of their views.
import type { Shown } from "../compare/shown.js";
import { propertiesOf } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";

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
