// opwright's own tables: those of every service, and those of families.
import { families } from "../families/index.js";
import type { RegistryModel } from "../model/registry.js";
import { types, type EngineName } from "../print/ddl-parts.js";
import { addColumn, stepText, type SystemTables } from "../print/system-steps.js";

/** The tables of every service. */
const ofEvery: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_idempotency: {
      columns: [
        `"scope" ${type.text} PRIMARY KEY`,
        `"fingerprint" ${type.text} NOT NULL`,
        `"status" INTEGER NOT NULL`,
        `"body" ${type.text}`,
        `"etag" ${type.text}`,
        `"expires_at" ${type.number} NOT NULL`,
      ],
      indexes: ["expires_at"],
    },
    "opwright_idempotency.shape": [addColumn("opwright_idempotency", `"shape" ${type.text}`)],
    opwright_leases: {
      columns: [
        `"name" ${type.text} PRIMARY KEY`,
        `"holder" ${type.text} NOT NULL`,
        `"until" ${type.number} NOT NULL`,
        `"state" ${type.text}`,
      ],
    },
    opwright_rates: {
      isUnlogged: true,
      columns: [
        `"name" ${type.text} NOT NULL`,
        `"key" ${type.text} NOT NULL`,
        `"taken" INTEGER NOT NULL`,
        `"ends_at" ${type.number} NOT NULL`,
        `PRIMARY KEY ("name", "key")`,
      ],
      indexes: ["ends_at"],
    },
  };
};

const ofFamilies = families.flatMap(({ tables }) => tables);

/** The names of the steps that a service needs. They are the same for every engine. */
export function systemStepsOf(model: RegistryModel): readonly string[] {
  const needed = ofFamilies.filter(({ areNeeded }) => areNeeded(model));
  return [ofEvery, ...needed.map(({ steps }) => steps)].flatMap((steps) =>
    Object.keys(steps("sqlite")),
  );
}

/** The statements of one step. Throws if no step has the name. */
export function systemStep(engine: EngineName, name: string): string {
  for (const steps of [ofEvery, ...ofFamilies.map((tables) => tables.steps)]) {
    const step = steps(engine)[name];
    if (step !== undefined) return stepText(engine, name, step);
  }
  throw new Error(`no DDL for ${name}`);
}
