// The caller's devices, and how far each has acknowledged, over HTTP (decisions.md §2).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { connectSse } from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let writer: Member;
    let project = "";
    beforeAll(async () => {
      service = await startTestService(engine, { signsIn: false });
      people = peopleOf(service);
      writer = await people.member("", "tasks.write", "projects.write");
      project = await people.by(writer.token).make("projects", { name: "P", key: "PP" });
    });
    afterAll(() => service.stop());

    const devicesOf = async ({ token }: Member) =>
      (await people.as(token, "GET", "/realtime/devices")).body;
    const assign = (to: Member): Promise<string> =>
      people.by(writer.token).make("tasks", { title: "t", project, assignee: to.id });

    test("a device is told once it has acknowledged, with how many it has not; others' are not", async () => {
      const ann = await people.member(writer.tenantId, "tasks.read");
      const bob = await people.member(writer.tenantId, "tasks.read");
      expect(await devicesOf(ann)).toEqual({ devices: [] });
      const phone = await connectSse(service, ann, { device: "phone" });
      const shared = await connectSse(service, ann);
      for (let count = 0; count < 3; count += 1) await assign(ann);
      await expect.poll(() => [phone, shared].map(({ heard }) => heard.length)).toEqual([3, 3]);
      expect(await devicesOf(ann)).toEqual({ devices: [] });
      await phone.ack(phone.heard[2]?.id ?? "");
      await shared.ack(shared.heard[0]?.id ?? "");
      const { devices } = await devicesOf(ann);
      expect(devices).toHaveLength(2);
      const acknowledged_at = expect.stringMatching(/^\d{4}-.*Z$/);
      expect(devices).toContainEqual({ device_id: "phone", unacknowledged: 0, acknowledged_at });
      expect(devices).toContainEqual({ device_id: null, unacknowledged: 2, acknowledged_at });
      expect(await devicesOf(bob)).toEqual({ devices: [] });
      phone.close();
      shared.close();
      expect((await devicesOf(ann)).devices).toHaveLength(2);
    });

    test.each([
      ["GET", "/realtime/devices", "", 401, "core.authentication"],
      ["GET", "/realtime/devices?limit=1", "ann", 422, "core.validation"],
      ["POST", "/realtime/devices", "ann", 405, "method_not_allowed"],
    ] as const)("%s %s by %o is refused", async (method, path, who, status, code) => {
      const token = who === "" ? "" : writer.token;
      const answer = await people.as(token, method, path, method === "POST" ? {} : undefined);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    });
  });
}
