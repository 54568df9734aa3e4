// Operations that are invoked without a request: on behalf of somebody in a tenant, under a key, with a deadline
// (runtime/operations/invoke-as.ts). What they do is looked at over HTTP.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tasksCreate } from "../../../generated/routes/tasks.js";
import { projectsCreate } from "../../../generated/routes/projects.js";
import { invokeAs, type InvokedAs } from "../../../runtime/operations/invoke-as.js";
import type { Identity } from "../../../runtime/operations/identity.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  let service: TestService;
  let ann: Member;
  let bob: Member;
  beforeAll(async () => {
    service = await startTestService(engine, { signsIn: false });
    const people = peopleOf(service);
    const may = ["projects.read", "projects.write", "tasks.read", "tasks.write"];
    ann = await people.member("", ...may);
    bob = await people.member("", "projects.read");
  });
  afterAll(() => service.stop());

  const identityOf = ({ id, tenantId }: Member): Identity => ({
    principalId: id,
    actorId: null,
    sessionId: null,
    tenant: tenantId,
    expiresAt: null,
  });
  const makeProject = (as: InvokedAs, key: string) =>
    invokeAs(service.running.connection, projectsCreate, as, () => ({ name: "P", key }) as never);
  const namesOf = async ({ token }: Member): Promise<readonly string[]> => {
    const { body } = await service.call("POST", "/projects/list", {
      body: { size: 50 },
      headers: { authorization: `Bearer ${token}` },
    });
    return body.hits.map(({ key }: { readonly key: string }) => key);
  };

  test("it has the rights of whom it is for, in that tenant", async () => {
    const identity = identityOf(ann);
    await makeProject({ tenant: ann.tenantId, identity }, "AA");
    expect(await namesOf(ann)).toContain("AA");
    expect(await namesOf(bob)).not.toContain("AA");
  });

  test("guards refuse it as they refuse a request", async () => {
    const asBob = { tenant: bob.tenantId, identity: identityOf(bob) };
    await expect(makeProject(asBob, "BB")).rejects.toMatchObject({ code: "core.authorization" });
    const asNobody = { tenant: bob.tenantId, identity: null };
    await expect(makeProject(asNobody, "CC")).rejects.toMatchObject({
      code: "core.authentication",
    });
    expect(await namesOf(bob)).toEqual([]);
  });

  test("nothing is committed after its deadline, or when nobody waits any more", async () => {
    const identity = identityOf(ann);
    const late = { tenant: ann.tenantId, identity, deadlineSeconds: 0 };
    await expect(makeProject(late, "DD")).rejects.toMatchObject({ code: "deadline_exceeded" });
    const gone = { tenant: ann.tenantId, identity, isGone: () => true };
    await expect(makeProject(gone, "EE")).rejects.toThrow();
    expect(await namesOf(ann)).not.toContain("DD");
    expect(await namesOf(ann)).not.toContain("EE");
  });

  test("a key that is used twice has one effect", async () => {
    expect(tasksCreate.idempotencyKey).toBe(true);
    const identity = identityOf(ann);
    const { body } = await service.call("POST", "/projects/list", {
      body: { size: 1 },
      headers: { authorization: `Bearer ${ann.token}` },
    });
    const as = { tenant: ann.tenantId, identity, idempotencyKey: "once" };
    const make = () =>
      invokeAs(service.running.connection, tasksCreate, as, () => {
        return { title: "T", project: body.hits[0].id } as never;
      });
    const [first, second] = [await make(), await make()];
    expect([first.replayed, second.replayed]).toEqual([false, true]);
  });
});
