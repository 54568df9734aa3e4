// Entity tags of documents whose type is told otherwise by the next version: no cache takes one form for the other, and
// whoever writes may name a version by the tag of either (RFC 9110 §8.8, §13).
import { describe, expect, onTestFinished, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const registry = (type: string, types = ""): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
types: {Place: {town: string${types}}}
documents:
  notes: {type: {text: string, place: Place${type}}, guard: open, history: true}
`,
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const versions = async (...registries: readonly Readonly<Record<string, string>>[]) => {
      const { same, drop } = await sharedDatabase(engine);
      onTestFinished(drop);
      const started: TestService[] = [];
      let before: TestProject | undefined;
      for (const files of registries) {
        const project = await testProject(files, before);
        onTestFinished(() => project.remove());
        before = project;
        const service = await project.start(same);
        onTestFinished(() => service.stop());
        started.push(service);
      }
      return started;
    };
    const read = async (service: TestService, id: string, headers = {}) => {
      const { status, headers: fields } = await service.call("GET", `/notes/${id}`, { headers });
      return [status, fields.get("etag")];
    };

    test("another form has another tag, until nobody tells it otherwise", async () => {
      const [first, described, grown, nested] = await versions(
        registry(""),
        {
          "registry/service.yaml":
            registry("")["registry/service.yaml"]?.replace(
              "town: string",
              "town: {type: string, description: Where it is.}",
            ) ?? "",
        },
        registry(", due: date-time?"),
        registry(", due: date-time?", ", zip: string?"),
      );
      if (
        first === undefined ||
        described === undefined ||
        grown === undefined ||
        nested === undefined
      )
        throw new Error("versions are missing");
      const made = await first.post("/notes", { text: "a", place: { town: "Ulm" } });
      const { id } = made.body;
      expect(made.headers.get("etag")).toBe('"1"');
      expect(await read(described, id)).toEqual([200, '"1"']);
      expect(await read(grown, id)).toEqual([200, '"1-2"']);
      expect(await read(nested, id)).toEqual([200, '"1-3"']);
      // What the version before has told is no answer of the next one, by its date either.
      expect(await read(grown, id, { "if-none-match": '"1"' })).toEqual([200, '"1-2"']);
      const later = { "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT" };
      expect(await read(grown, id, later)).toEqual([200, '"1-2"']);
      expect(await read(grown, id, { "if-none-match": '"1-2"' })).toEqual([304, '"1-2"']);
      expect(await read(first, id, { "if-none-match": '"1-2"' })).toEqual([200, '"1"']);
    });

    test("a write may name the version by the tag of either form", async () => {
      const [first, grown] = await versions(registry(""), registry(", due: date-time?"));
      if (first === undefined || grown === undefined) throw new Error("versions are missing");
      const { id } = (await first.post("/notes", { text: "a", place: { town: "Ulm" } })).body;
      const patch = async (service: TestService, tag: string, query = "") =>
        (
          await service.call("PATCH", `/notes/${id}${query}`, {
            body: { text: `after ${tag}` },
            headers: { "if-match": tag },
          })
        ).status;
      expect(await patch(grown, '"1"')).toBe(200);
      expect(await patch(first, '"2-2"')).toBe(200);
      expect(await patch(grown, '"3-2"', "?rev=3")).toBe(200);
      expect(await patch(grown, '"3"')).toBe(412);
      expect(await patch(grown, '"40"')).toBe(412);
      expect(await patch(grown, '"4-2"', "?rev=3")).toBe(400);
    });
  });
}
