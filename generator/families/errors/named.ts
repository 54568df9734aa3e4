// Errors that operations and hooks name are declared.
import { didYouMeanOr } from "../../diagnostics/did-you-mean.js";
import type { RuleContext } from "../../kernel/rule.js";

export function namedErrorsExist({ loaded, report }: RuleContext): void {
  const { tree, declarations } = loaded;
  const codes = Object.keys(tree.section("errors"));
  for (const section of ["operations", "hooks"] as const)
    for (const [name, { errors = [] }] of Object.entries(declarations[section]))
      for (const [at, code] of errors.entries())
        if (!codes.includes(code))
          report({
            code: "OPW028",
            message: `no error is called ${code}`,
            at: tree.at(section, name, "errors", at),
            ...didYouMeanOr(
              code,
              codes,
              `Declare it: \`errors: {${code}: {kind: not_found, detail: …}}\`. Those of opwright, such as \`core.not_found\`, need no listing.`,
            ),
          });
}
