// The keyword `uniqueItems` in linear time; Ajv's own compares every two items.
import { _, str, type Ajv2020 } from "ajv/dist/2020.js";
import { repeatedItems } from "../../runtime/contract/repeated-items.js";

/** The compiler, with a `uniqueItems` that reads each item once. Its code calls `repeatedItems`. */
export function withUniqueItems<Compiler extends Ajv2020>(ajv: Compiler): Compiler {
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: {
      message: ({ params: { pair } }) =>
        str`must NOT have duplicate items (items ## ${_`${pair}[0]`} and ${_`${pair}[1]`} are identical)`,
      params: () => _`{}`,
    },
    code(context) {
      const { gen, data, schema } = context;
      if (schema !== true) return;
      const check = gen.scopeValue("func", { ref: repeatedItems, code: _`repeatedItems` });
      const pair = gen.const("pair", _`${check}(${data})`);
      context.setParams({ pair });
      context.fail(_`${pair} !== null`);
    },
  });
  return ajv;
}
