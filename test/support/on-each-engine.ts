// The frame of most acceptance tests: a project from its YAML, running on each SQL engine.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { engines, type TestEngine } from "./engines.js";
import { peopleOf, type People } from "./people.js";
import { testProject, type StartOptions, type TestProject } from "./project-service.js";
import { startTestService, type TestService } from "./service.js";

/** In place of files: the service of this repository, `registry/` and `generated/`. */
export const reference = "the reference service";

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
 * fresh database of each. Engines that this machine doesn't have are skipped. Returns the project,
 * for tests that need no engine; the reference service has none.
 */
export function onEachEngine(
  files: Readonly<Record<string, string>> | typeof reference,
  describeTests: (stage: Stage) => void,
  options?: StartOptions,
): TestProject {
  let project: TestProject | undefined;
  if (files !== reference)
    beforeAll(async () => {
      project = await testProject(files);
    });
  afterAll(() => project?.remove());
  const whole = whenStarted(() => started(project, "project"));

  for (const engine of engines)
    describe.skipIf(!engine.isAvailable)(engine.name, () => {
      let service: TestService | undefined;
      let people: People | undefined;
      beforeAll(async () => {
        if (project === undefined) {
          service = await startTestService(engine, options);
          people = peopleOf(service);
          return;
        }
        service = await project.start(engine, options);
        if (existsSync(join(project.root, "generated/identity.ts")))
          people = peopleOf(service, (await project.load("generated/identity.ts")).identitySpec);
      });
      afterAll(() => service?.stop());
      describeTests({
        engine,
        project: whole,
        service: whenStarted(() => started(service, "service")),
        people: whenStarted(() => started(people, "people")),
      });
    });
  return whole;
}

function started<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`there is no ${name} outside of tests and hooks`);
  return value;
}

/** Stands for an object that is made later, so that tests can take it apart where they are told. */
function whenStarted<Value extends object>(current: () => Value): Value {
  return new Proxy({} as Value, { get: (_, member) => Reflect.get(current(), member) });
}
