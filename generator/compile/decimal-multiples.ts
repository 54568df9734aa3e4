// The keyword `multipleOf` in decimals; Ajv's own divides doubles, so that 0.07 is no multiple of
// 0.01.
import { _, str, type Ajv2020 } from "ajv/dist/2020.js";
import { isMultipleOf } from "../../runtime/contract/validation.js";

/**
 * The compiler, with `multipleOf` as people understand it. Its code calls `isMultipleOf` of the
 * runtime.
 */
export function withDecimalMultiples<Compiler extends Ajv2020>(ajv: Compiler): Compiler {
  ajv.removeKeyword("multipleOf");
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    schemaType: "number",
    error: {
      message: ({ schemaCode }) => str`must be multiple of ${schemaCode}`,
      params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    },
    code(context) {
      const { gen, data, schemaCode } = context;
      const check = gen.scopeValue("func", { ref: isMultipleOf, code: _`isMultipleOf` });
      context.fail(_`!${check}(${data}, ${schemaCode})`);
    },
  });
  return ajv;
}
