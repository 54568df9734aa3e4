// The frame of most acceptance tests: a project from its YAML, running on each SQL engine.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { engines, type TestEngine } from "./engines.js";
import { peopleOf, type People } from "./people.js";
import { testProject, type StartOptions, type TestProject } from "./project-service.js";
import type { TestService } from "./service.js";

/** What tests on one engine speak to. Its members work once the service has started. */
export interface Stage {
  readonly engine: TestEngine;
  readonly project: TestProject;
  readonly service: TestService;
  /** Only where the registry declares `identity`. */
  readonly people: People;
}

/**
 * Describes the same tests for each engine: generates the project once, and starts its service on a
 * fresh database of each. Engines that this machine doesn't have are skipped.
 */
export function onEachEngine(
  files: Readonly<Record<string, string>>,
  describeTests: (stage: Stage) => void,
  options?: StartOptions,
): void {
  let project: TestProject | undefined;
  beforeAll(async () => {
    project = await testProject(files);
  });
  afterAll(() => project?.remove());

  for (const engine of engines)
    describe.skipIf(!engine.isAvailable)(engine.name, () => {
      let service: TestService | undefined;
      let people: People | undefined;
      beforeAll(async () => {
        const generated = started(project, "project");
        service = await generated.start(engine, options);
        if (existsSync(join(generated.root, "generated/identity.ts")))
          people = peopleOf(service, (await generated.load("generated/identity.ts")).identitySpec);
      });
      afterAll(() => service?.stop());
      describeTests({
        engine,
        project: whenStarted(() => started(project, "project")),
        service: whenStarted(() => started(service, "service")),
        people: whenStarted(() => started(people, "people")),
      });
    });
}

function started<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`there is no ${name} outside of tests and hooks`);
  return value;
}

/** Stands for an object that is made later, so that tests can take it apart where they are told. */
function whenStarted<Value extends object>(current: () => Value): Value {
  return new Proxy({} as Value, { get: (_, member) => Reflect.get(current(), member) });
}
