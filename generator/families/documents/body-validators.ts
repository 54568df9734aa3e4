// The validators of whole bodies: of documents that are brought from elsewhere, and of those that
// have been changed where the changed members alone do not say enough.
import { camelCase } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";
import type { ValidatorPlan } from "../../model/validator-plan.js";
import { freeName } from "../../print/printed-names.js";

/** The name of a document's: no operation of its namespace is called so. */
export function bodyValidatorName(
  document: { readonly name: string },
  { operations }: Pick<RegistryModel, "operations">,
): string {
  const names = new Set(
    Object.values(operations)
      .filter(({ namespace }) => namespace === document.name)
      .map(({ key }) => camelCase(key)),
  );
  return freeName(`${camelCase(document.name)}Body`, (name) => names.has(name));
}

/** Those of a registry, by the namespaces of their documents. */
export function bodyPlans(
  model: RegistryModel,
): Readonly<Record<string, readonly ValidatorPlan[]>> {
  return Object.fromEntries(
    Object.values(model.documents).map((document) => [
      document.name,
      [
        {
          name: bodyValidatorName(document, model),
          schema: document.bodySchema,
          typeName: "unknown",
        },
      ],
    ]),
  );
}
