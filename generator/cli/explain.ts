// opwright explain: what a diagnostic means, or everything about one operation.
import { catalogue, isDiagnosticCode } from "../families/catalogue.js";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import { errorCodesOf } from "../model/error-codes.js";
import { checkRegistry } from "../pipeline/generate.js";
import { own } from "../model/records.js";
import type { OperationModel } from "../model/registry.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

/** Explains a code of the catalogue; undefined if the subject is no code. */
export function explainCode(subject: string, terminal: Terminal): ExitCode | undefined {
  const code = subject.toUpperCase();
  if (!/^OPW\d+$/.test(code)) return undefined;
  if (!isDiagnosticCode(code)) {
    const codes = Object.keys(catalogue).sort();
    const likely = didYouMean(code, codes)?.name;
    throw new UsageError(
      `there is no code ${code}; ${likely === undefined ? `the catalogue has ${codes[0]} to ${codes.at(-1)}` : `did you mean ${likely}?`}`,
    );
  }
  const { title, cause, fix } = catalogue[code];
  terminal.out(`${code} ${title}\n\n${cause}\n\nFix: ${fix}\n`);
  return exitCodes.fine;
}

export async function runExplain(
  { project }: ConfiguredProject,
  subject: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const { expanded } = await checkRegistry(project);
  const { operations } = expanded.model;
  const operation = own(operations, subject);
  if (operation === undefined) {
    const likely = didYouMean(subject, Object.keys(operations))?.name;
    throw new UsageError(
      `there is no operation ${subject}${likely === undefined ? "" : `; did you mean ${likely}?`}`,
    );
  }
  terminal.out(`${describeOperation(operation)}\n`);
  return exitCodes.fine;
}

function describeOperation(operation: OperationModel): string {
  const { route, input, output, hooks, eachHooks } = operation;
  const parameters = input.parameters.map(
    ({ name, in: place, type, required }) =>
      `${name}: ${type} in ${place}${required ? "" : ", optional"}`,
  );
  const rows: readonly (readonly [string, string])[] = [
    ["declared in", operation.source],
    ["family", operation.family],
    ["route", route === null ? "none" : `${route.method} ${route.path} → ${route.status}`],
    ["parameters", parameters.join("; ") || "none"],
    ["body", input.body === null ? "none" : input.body.typeName],
    ["answer", output.schema === null ? "none" : JSON.stringify(output.schema).slice(0, 120)],
    ["guard", operation.guard],
    ["hooks", hooks.map(({ phase, id }) => `${phase} ${id}`).join(", ") || "none"],
    ...(eachHooks.length === 0
      ? []
      : [
          [
            "of each document",
            eachHooks.map(({ of, phase, id }) => `${of}: ${phase} ${id}`).join(", "),
          ] as const,
        ]),
    ["transaction", operation.transaction],
    ["deadline", operation.deadlineSeconds === null ? "none" : `${operation.deadlineSeconds} s`],
    ...(operation.isSerializable ? [["isolation", "serializable"] as const] : []),
    ...(operation.retries === 0
      ? []
      : [["retries", `${operation.retries} after conflicts`] as const]),
    ["idempotency key", operation.idempotencyKey ? "honoured" : "not honoured"],
    ["errors", errorCodesOf(operation).join(", ")],
    // Where the reference has it while the service runs in development.
    ["page", `${route === null ? "/docs/operations" : "/docs"}#${operation.key}`],
  ];
  return [
    `${operation.key}: ${operation.summary}`,
    "",
    ...rows.map(([name, value]) => `${name.padEnd(18)}${value}`),
  ].join("\n");
}
