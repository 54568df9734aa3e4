// `visible:` of a document: fields that only some of its readers may see.
import type { FamilyContext } from "../../../kernel/family.js";
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import { hookChain, isAuthorsSay, isRate } from "../../../kernel/guards.js";
import {
  propertiesOf,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import type { DocumentModel, VisibleModel } from "../../../model/document-model.js";
import { listLayout, literal, width } from "../../../print/layout.js";
import type { ModuleScope } from "../../../print/module-scope.js";
import type { DocumentDeclaration } from "../format.js";
import { fieldsAsked } from "./conditions.js";
import { keptSteps } from "./policy-steps.js";

/**
 * Who may see which fields: those with the same policies together. Reports fields that are not
 * there, and policies that are about requests (OPW113).
 */
export function visibleRules(
  context: FamilyContext,
  name: string,
  { visible = {} }: DocumentDeclaration,
  bodySchema: JsonSchema,
): readonly VisibleModel[] {
  const { tree, report } = context;
  const fields = Object.keys(propertiesOf(bodySchema));
  const asked = fieldsAsked(bodySchema);
  const rules = new Map<string, VisibleModel>();
  for (const [field, declared] of Object.entries(visible)) {
    if (!fields.includes(field)) {
      const at = tree.keyAt("documents", name, "visible", field);
      const suggestion = didYouMean(field, fields);
      report({ code: "OPW113", message: `${name} has no field ${field}`, at, suggestion });
      continue;
    }
    if (asked.includes(field)) {
      const at = tree.keyAt("documents", name, "visible", field);
      const message = `conditions of the type ask for ${field}, so whoever can't see it could not be told what else holds`;
      report({ code: "OPW113", message, at });
    }
    const policies = [declared].flat() as readonly string[];
    const key = JSON.stringify(policies);
    const known = rules.get(key);
    const to =
      known?.to ??
      policies.map((policy, index) => {
        const path = ["documents", name, "visible", field];
        return askedBy(context, name, policy, Array.isArray(declared) ? [...path, index] : path);
      });
    rules.set(key, { fields: [...(known?.fields ?? []), field], to });
  }
  return [...rules.values()];
}

/** What a policy asks, and which documents it leaves. */
function askedBy(
  context: FamilyContext,
  name: string,
  policy: string,
  path: readonly (string | number)[],
): VisibleModel["to"][number] {
  const at = context.tree.at(...path);
  const chain = hookChain(context, [{ policy, at }], name);
  const odd = chain.find((hook) => isAuthorsSay(hook) || hook.phase !== "before" || isRate(hook));
  if (odd !== undefined)
    context.report({
      code: "OPW113",
      message: `${policy} asks ${odd.id}, which is about a request and not about a field`,
      at,
    });
  return { policy, asks: keptSteps(chain) };
}

/** The type of the document as it is answered: what is not shown to everybody may be absent. */
export function shownSchema(declaration: DocumentDeclaration, body: SchemaObject): SchemaObject {
  const { visible = {} } = declaration;
  const required = requiredOf(body).filter((field) => !Object.hasOwn(visible, field));
  return sayVisible(declaration, { ...body, required });
}

/** The schema, which says for pages and clients whom policies show fields of it. */
export function sayVisible({ visible }: DocumentDeclaration, schema: SchemaObject): SchemaObject {
  if (visible === undefined) return schema;
  const fields = Object.keys(propertiesOf(schema)).filter((field) => Object.hasOwn(visible, field));
  if (fields.length === 0) return schema;
  const shown = fields.map((field) => [field, [own(visible, field)].flat()] as const);
  return { ...schema, "x-visible": Object.fromEntries(shown) };
}

/** Errors of what asks about such fields, or writes them. */
export function errorsOfVisible({ visible }: Pick<DocumentModel, "visible">): readonly string[] {
  return visible.length === 0 ? [] : ["core.authorization"];
}

/** Lists of steps, laid out as the formatter has lists of lists. */
function alternatives(all: readonly (readonly string[])[]): readonly string[] {
  const line = `      by: () => [${all.map((steps) => `[${steps.join(", ")}]`).join(", ")}],`;
  const isBroken = all.length > 1 && all.every((steps) => steps.length > 1);
  if (line.length <= width && !isBroken) return [line];
  const lines = all.map((steps) => listLayout("        ", "", steps, ["[", "]"], ","));
  return ["      by: () => [", ...lines, "      ],"];
}

/** The member of a spec. Asked for when it is needed: policies may know documents. */
export function visibleMember({ visible }: DocumentModel, scope: ModuleScope): readonly string[] {
  if (visible.length === 0) return [];
  return [
    "  visible: [",
    ...visible.flatMap(({ fields, to }) => [
      "    {",
      listLayout("      ", "members: ", fields.map(literal), ["[", "]"], ","),
      ...alternatives(to.map(({ asks }) => asks.map(({ run }) => scope.code(run)))),
      "    },",
    ]),
    "  ],",
  ];
}
