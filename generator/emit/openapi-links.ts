// Links of OpenAPI: which operations continue with an answer, and what they take from it.
import { propertiesOf, referredType, type JsonSchema } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";

/**
 * The member `links` of an operation's response; empty if no mounted operation continues with it.
 */
export function linksOf(operation: OperationModel, { operations, types }: RegistryModel): object {
  const links = operation.leadsTo.flatMap((name) => {
    const target = own(operations, `${operation.namespace}.${name}`);
    return target === undefined || target.route === null
      ? []
      : [[name, linkTo(target, operation.output.schema ?? true, types)] as const];
  });
  return links.length === 0 ? {} : { links: Object.fromEntries(links) };
}

/**
 * The link passes members of the answer to parameters of the same name, and says which body member
 * takes the whole answer.
 */
function linkTo(
  { key, input }: OperationModel,
  answer: JsonSchema,
  types: RegistryModel["types"],
): object {
  const type = referredType(answer);
  const answered = propertiesOf(type === undefined ? answer : (own(types, type) ?? true));
  const parameters = input.parameters.filter(({ name }) => Object.hasOwn(answered, name));
  const members = Object.entries(propertiesOf(input.body?.schema ?? true));
  const [whole] = members.find(([, schema]) => referredType(schema) === type) ?? [];
  return {
    operationId: key,
    ...(parameters.length === 0
      ? {}
      : {
          parameters: Object.fromEntries(
            parameters.map(({ name }) => [name, `$response.body#/${name}`]),
          ),
        }),
    ...(type === undefined || whole === undefined
      ? {}
      : { description: `The answer is \`${whole}\` of its body.` }),
  };
}
