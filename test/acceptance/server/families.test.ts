// Every family runs: each operation of a small registry has its handler, its tables, and a transaction that suffices.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exampleOf } from "../../../generator/emit/openapi-examples.js";
import { families, modelParts } from "../../../generator/families/index.js";
import { thawRegistry } from "../../../generator/model/frozen.js";
import type { OperationModel, RegistryModel } from "../../../generator/model/registry.js";
import { engines } from "../../support/engines.js";
import { filesOf, samples, textOf } from "../../generator/family-samples.js";
import { declaredService } from "../../support/declared.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

/** Reading first: what ends the session of the caller comes late. */
const effects: readonly OperationModel["effect"][] = ["reads", "adds", "repeats", "changes"];

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable).each(families.map(({ name }) => name))(
    `%s on ${engine.name}`,
    (name) => {
      test("answers each of its operations, and not with a fault of its own", async () => {
        const sample = samples[name] ?? { yaml: "" };
        const yaml = textOf(sample);
        const identity = yaml.includes("identity:") ? "" : "identity: {}\n";
        const declared = await declaredService(filesOf(`${identity}${yaml}`));
        const service = await startTestService(engine, declared);
        try {
          const text = readFileSync(join(declared.folder, "registry.json"), "utf8");
          const model = thawRegistry(JSON.parse(text) as object, modelParts);
          const own = Object.values(model.operations)
            .filter(({ family, route }) => family === name && route !== null)
            .sort((left, right) => effects.indexOf(left.effect) - effects.indexOf(right.effect));
          const answers: (readonly [string, number, unknown])[] = [];
          for (const operation of own) {
            const { status, body } = await called(operation, model, service);
            answers.push([operation.key, status, body]);
          }
          expect(answers.filter(([, status]) => status >= 500)).toEqual([]);
          const isDone = ([, status]: (typeof answers)[number]): boolean => status < 300;
          expect([name, answers.some(isDone)]).toEqual([name, own.length > 0]);
        } finally {
          await service.stop();
          declared.remove();
        }
      });
    },
  );
}

/** The answer to a call with examples of what the operation takes. */
async function called(
  { route, input }: OperationModel,
  { types }: RegistryModel,
  service: TestService,
): Promise<Answer> {
  const query = new URLSearchParams();
  let path = route?.path ?? "";
  for (const one of input.parameters) {
    const value = String(exampleOf(one.schema, types) ?? "1");
    if (one.in === "path") path = path.replace(new RegExp(`\\{\\+?${one.name}\\}`), value);
    else if (one.required) query.set(one.in === "revision" ? "rev" : one.name, value);
  }
  const { body } = input;
  if (body === null) return service.call(route?.method ?? "GET", `${path}?${query}`);
  const form = new FormData();
  form.set("file", new Blob(["text"], { type: "text/plain" }), "a.txt");
  const sent = body.isForm ? form : (exampleOf(body.schema, types) ?? {});
  return service.call(route?.method ?? "POST", `${path}?${query}`, { body: sent });
}
