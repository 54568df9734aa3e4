// docs/first-service.md is followed from top to bottom: what it shows is what a reader gets.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../support/engines.js";
import { freePort } from "../support/free-port.js";
import { Journey, patternOf, sectionsOf } from "./journey.js";

const page = readFileSync(new URL("../../docs/first-service.md", import.meta.url), "utf8");
const modules = ["@types/express", "@types/node", "express", "pg", "typescript"];
const postgres = engines.find(({ name }) => name === "postgres");

describe("docs/first-service.md", { timeout: 120_000 }, () => {
  let journey: Journey;
  let database: FreshDatabase | undefined;

  beforeAll(async () => {
    journey = new Journey(await freePort(), modules);
    if (postgres?.isAvailable === true) database = await postgres.create();
  });

  afterAll(async () => {
    await journey.end();
    await database?.drop();
  });

  // Each section goes on where the one before it ended.
  test.each(sectionsOf(page))("$title", async ({ title, steps }) => {
    if (title.includes("PostgreSQL") && database === undefined) return;
    for (const step of steps) {
      const output = await journey.take(step, database?.url);
      if (step.kind === "command") expect(output, step.command).toMatch(patternOf(step.shown));
    }
  });
});
