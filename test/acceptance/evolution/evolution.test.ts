// Documents that versions of a registry have stored, read by each other, one after another and side by side.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, sharedDatabase, type TestEngine } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

const registry = (type: string, further = ""): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    type: {${type}}
    guard: open
    history: true
    soft_delete: true
${further}`,
});

let versions: readonly [TestProject, TestProject, TestProject];
beforeAll(async () => {
  const first = await testProject(
    registry(`text: string, legacy: {type: string, default: old}`, "    defaults: {legacy: old}\n"),
  );
  const second = await testProject(
    registry(
      `text: string, owner: uuid?, state: [low, high], labels: "string[]", place: {type: object, properties: {city: {type: string}}, required: [city], additionalProperties: false}`,
      `    defaults: {state: low, labels: [new], place: {city: Rome}}
    indexes: [[state]]
search:
  finds: {of: notes, text: [text, labels], guard: open}
`,
    ),
    first,
  );
  const third = await testProject(
    registry(
      `text: string, state: [low, high], legacy: {type: string}, labels: "string[]"`,
      "    defaults: {state: low, labels: [new], legacy: again}\n",
    ),
    second,
  );
  versions = [first, second, third];
});
afterAll(() => versions.forEach((version) => version.remove()));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let drop: () => Promise<void>;
    let services: readonly [TestService, TestService];
    let same: TestEngine;
    let old: Answer["body"];
    beforeAll(async () => {
      ({ same, drop } = await sharedDatabase(engine));
      const first = await versions[0].start(same);
      old = (await first.post("/notes", { text: "alpha" })).body;
      // The first goes on while the second is rolled out.
      services = [first, await versions[1].start(same)];
    });
    afterAll(async () => {
      for (const service of services) await service.stop();
      await drop();
    });

    const added = { owner: null, state: "low", labels: ["new"], place: { city: "Rome" } };
    const { legacy: _legacy, ...kept } = { legacy: "" };

    test("documents of an older version are read as this one declares them", async () => {
      const [, second] = services;
      const { id, rev, created_at, last_update_at, is_deleted } = old;
      const base = { id, rev, created_at, last_update_at, is_deleted };
      const expected = { ...base, ...kept, text: "alpha", ...added };
      expect((await second.call("GET", `/notes/${id}`)).body).toEqual(expected);
      expect((await second.post("/notes/list", {})).body.hits).toEqual([expected]);
    });

    test("queries, sorts, groups and searches see what reads see", async () => {
      const [first, second] = services;
      const high = (await second.post("/notes", { text: "beta", state: "high" })).body;
      const late = (await first.post("/notes", { text: "gamma" })).body;
      const texts = async (body: object): Promise<unknown> => {
        const { status, body: answer } = await second.post("/notes/list", body);
        expect(status).toBe(200);
        return answer.hits.map(({ text }: { readonly text: string }) => text);
      };
      const ofState = (state: string) => ({
        filters: { $values: { state } },
        sorts: { text: "asc" },
      });
      expect(await texts(ofState("low"))).toEqual(["alpha", "gamma"]);
      expect(await texts(ofState("high"))).toEqual(["beta"]);
      expect(await texts({ sorts: { state: "desc", text: "asc" } })).toEqual([
        "alpha",
        "gamma",
        "beta",
      ]);
      expect(
        await texts({
          filters: { $values: { labels: { $overlaps: ["new"] } } },
          sorts: { text: "asc" },
        }),
      ).toEqual(["alpha", "beta", "gamma"]);
      expect(
        await texts({ filters: { $values: { "place.city": "Rome" } }, sorts: { text: "asc" } }),
      ).toEqual(["alpha", "beta", "gamma"]);
      expect(
        await texts({ filters: { $values: { owner: { $null: true } } }, sorts: { text: "asc" } }),
      ).toEqual(["alpha", "beta", "gamma"]);
      const aggregates = { $groups: { state: "state" }, $computed: { count: { $count: {} } } };
      const groups = await second.post("/notes/agg_list", { aggregates, sorts: { state: "asc" } });
      expect(groups.body.hits).toEqual([
        { state: "high", count: 1 },
        { state: "low", count: 2 },
      ]);
      await second.call("DELETE", `/notes/${high.id}?rev=1`);
      await second.call("DELETE", `/notes/${late.id}?rev=1`);
    });

    test("documents of a newer version are cut to what this one declares, and lose nothing when they are patched", async () => {
      const [first, second] = services;
      const newer = (await second.post("/notes", { text: "new", state: "high" })).body;
      const seen = await first.call("GET", `/notes/${newer.id}`);
      expect(seen.body).toMatchObject({ text: "new", legacy: "old" });
      expect(Object.keys(seen.body)).not.toContain("state");
      const patched = await first.call("PATCH", `/notes/${newer.id}?rev=1`, {
        body: { text: "newer", legacy: "mine" },
      });
      expect(patched.status).toBe(200);
      const again = (await second.call("GET", `/notes/${newer.id}`)).body;
      expect(again).toMatchObject({ rev: 2, text: "newer", state: "high" });
      expect(Object.keys(again)).not.toContain("legacy");
      await first.post(`/notes/${newer.id}/delete?rev=2`, undefined);
      await second.post(`/notes/${newer.id}/restore?rev=3`, undefined);
      expect((await second.call("GET", `/notes/${newer.id}`)).body).toMatchObject({
        state: "high",
      });
      await second.call("DELETE", `/notes/${newer.id}?rev=4`);
    });

    test("a patch from an older revision is merged over the shapes between", async () => {
      const [first, second] = services;
      const { id } = (await first.post("/notes", { text: "one", legacy: "x" })).body;
      const changed = await second.call("PATCH", `/notes/${id}?rev=1`, { body: { state: "high" } });
      expect(changed.status).toBe(200);
      const merged = await second.call("PATCH", `/notes/${id}?rev=1`, { body: { text: "two" } });
      expect(merged.status).toBe(200);
      const both = (await second.call("GET", `/notes/${id}`)).body;
      expect(both).toMatchObject({ rev: 3, state: "high", text: "two" });
      const older = await first.call("PATCH", `/notes/${id}?rev=3`, { body: { text: "three" } });
      expect(older.status).toBe(200);
      const last = (await second.call("GET", `/notes/${id}`)).body;
      expect(last).toMatchObject({ rev: 4, state: "high", text: "three" });
      await second.call("DELETE", `/notes/${id}?rev=4`);
    });

    test("a member that comes back has the value that came with it, whatever older rows still hold", async () => {
      const third = await versions[2].start(same);
      try {
        const { body } = await third.call("GET", `/notes/${old.id}`);
        expect(body).toMatchObject({
          text: "alpha",
          state: "low",
          legacy: "again",
          labels: ["new"],
        });
        expect(Object.keys(body)).not.toContain("place");
        const ofLegacy = async (legacy: string) =>
          (await third.post("/notes/list", { filters: { $values: { legacy } } })).body.count;
        expect([await ofLegacy("old"), await ofLegacy("again")]).toEqual([0, 1]);
      } finally {
        await third.stop();
      }
    });

    test("a member that documents might have had keeps what they have, and is filled in where they have none", async () => {
      const note = (further: string): string =>
        `{type: object, properties: {text: {type: string}, place: {type: string}}, required: [text], additionalProperties: false}${further}`;
      const declared = (further: string): Readonly<Record<string, string>> => ({
        "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {guard: open, type: ${note(further)}}
`,
      });
      const free = await testProject(declared(""));
      const filled = await testProject(declared(", defaults: {place: Rome}"), free);
      const fresh = await sharedDatabase(engine);
      const first = await free.start(fresh.same);
      const given = (await first.post("/notes", { text: "a", place: "Oslo" })).body;
      const none = (await first.post("/notes", { text: "b" })).body;
      const second = await filled.start(fresh.same);
      try {
        const places = [];
        for (const { id } of [given, none])
          places.push((await second.call("GET", `/notes/${id}`)).body.place);
        expect(places).toEqual(["Oslo", "Rome"]);
        for (const place of places) {
          const found = await second.post("/notes/list", { filters: { $values: { place } } });
          expect(found.body.count).toBe(1);
        }
      } finally {
        await first.stop();
        await second.stop();
        await fresh.drop();
        for (const project of [free, filled]) project.remove();
      }
    });
  });
}

test("a member that comes back without a default is refused: older documents have none", async () => {
  const [, second] = versions;
  const back = registry(
    `text: string, legacy: string, state: [low, high], labels: "string[]"`,
    "    defaults: {state: low, labels: [new]}\n",
  );
  await expect(testProject(back, second)).rejects.toThrow("OPW035");
});
