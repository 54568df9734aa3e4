// The inputs that nobody gives: defaults of members, and what a job that runs by itself takes.
import type { DeclaredDefault, RuleContext } from "../../kernel/rule.js";
import { propertiesOf, refTo, type JsonSchema } from "../../model/json-schema.js";
import { own } from "../../model/records.js";
import type { RegistryModel } from "../../model/registry.js";
import type { JobModel } from "./model.js";

/** Values of members of a job's input that may be left out. */
export function memberDefaults(
  { types }: Pick<RegistryModel, "types">,
  { typeName }: JobModel,
): Readonly<Record<string, unknown>> {
  const members = Object.entries(propertiesOf(own(types, typeName) ?? true));
  return Object.fromEntries(
    members.flatMap(([name, schema]) =>
      typeof schema === "object" && "default" in schema ? [[name, schema["default"]]] : [],
    ),
  );
}

/** Defaults have to fit their members (OPW031), and together the input of a schedule (OPW104). */
export function jobDefaults({ loaded, expanded }: RuleContext): readonly DeclaredDefault[] {
  const { jobs = {}, types } = expanded.model;
  return Object.entries(jobs).flatMap(([name, job]): readonly DeclaredDefault[] => {
    const schema = own(types, job.typeName) ?? true;
    const given = memberDefaults(expanded.model, job);
    const at = loaded.tree.at("jobs", name, "in");
    const ofType = expanded.types.table.origins.get(job.typeName) ?? at;
    const members = Object.entries(given).map(([member, value]) => ({
      member,
      schema: propertiesOf(schema)[member] ?? true,
      value,
      at: { ...ofType, path: [...ofType.path, member, "default"] },
    }));
    if (job.plan === null || isPlain(schema)) return members;
    const what = "input";
    const member = `${name}, which runs by itself,`;
    const value = given;
    return [...members, { code: "OPW104", what, member, schema: refTo(job.typeName), value, at }];
  });
}

/** Whether nothing but members is said, of which those that are required are told of by name. */
function isPlain(schema: JsonSchema): boolean {
  const said = ["type", "properties", "required", "additionalProperties", "title", "description"];
  return typeof schema === "boolean" || Object.keys(schema).every((key) => said.includes(key));
}
