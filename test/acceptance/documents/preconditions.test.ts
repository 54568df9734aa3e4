// Preconditions on every route that is about one version (RFC 9110 §13, attack 93).
import { expect, test } from "vitest";
import { onEachEngine, reference } from "../../support/on-each-engine.js";
import type { Answer } from "../../support/service.js";

const project = "01890000-0000-7000-8000-000000000005";

/** What holds of revision 2, by the headers that say so. */
const holding: readonly (readonly [string, string])[] = [
  ["if-match", '"2"'],
  ["if-match", 'W/"2"'],
  ["if-match", '"1", "2"'],
  ["if-match", '"1",W/"2" , "9"'],
  ["if-match", "*"],
  ["if-none-match", '"1"'],
  ["if-none-match", 'W/"1", "3"'],
  ["if-unmodified-since", "Fri, 01 Jan 2100 00:00:00 GMT"],
  ["if-unmodified-since", "yesterday"],
];
/** What does not. */
const failing: readonly (readonly [string, string])[] = [
  ["if-match", '"1"'],
  ["if-match", 'W/"1", "3"'],
  ["if-match", "2"],
  ["if-none-match", "*"],
  ["if-none-match", 'W/"2"'],
  ["if-none-match", '"1", "2"'],
  ["if-unmodified-since", "Thu, 01 Jan 2015 00:00:00 GMT"],
];

onEachEngine(reference, ({ service }) => {
  /** The path of a task at revision 2. */
  const made = async (): Promise<string> => {
    const { body } = await service.post("/tasks", { title: "one", project });
    const path = `/tasks/${body.id}`;
    const patched = await service.call("PATCH", `${path}?rev=1`, { body: { title: "two" } });
    expect(patched.status).toBe(200);
    return path;
  };
  const under = (
    [name, value]: readonly [string, string],
    method: string,
    path: string,
    body?: object,
  ): Promise<Answer> =>
    service.call(method, path, {
      headers: { [name]: value },
      ...(body === undefined ? {} : { body }),
    });
  const outcome = ({ status, body }: Answer): readonly unknown[] => [status, body?.code];

  const writes: readonly (readonly [string, string, object?])[] = [
    ["PATCH", "", { title: "three" }],
    ["POST", "/delete"],
    ["DELETE", ""],
  ];

  test.each(holding)("%s: %s lets every write go on", async (...header) => {
    for (const [method, below, body] of writes) {
      const path = await made();
      const query = header[0] === "if-match" || method === "DELETE" ? "" : "?rev=2";
      const answer = await under(header, method, `${path}${below}${query}`, body);
      expect([method, below, answer.status]).toEqual([
        method,
        below,
        method === "DELETE" ? 204 : 200,
      ]);
    }
  });

  test.each(failing)("%s: %s is 412 for every write, and nothing is written", async (...header) => {
    const path = await made();
    for (const [method, below, body] of writes) {
      const query = header[0] === "if-match" || method === "DELETE" ? "" : "?rev=2";
      const answer = await under(header, method, `${path}${below}${query}`, body);
      expect([method, ...outcome(answer)]).toEqual([method, 412, "precondition_failed"]);
      expect(answer.body.context.header.toLowerCase()).toBe(header[0]);
    }
    expect((await service.call("GET", path)).body).toMatchObject({ rev: 2, title: "two" });
  });

  test("a restore is under its preconditions too", async () => {
    const path = await made();
    expect((await service.call("POST", `${path}/delete?rev=2`)).status).toBe(200);
    const stale = await under(["if-match", '"2"'], "POST", `${path}/restore`);
    expect(outcome(stale)).toEqual([412, "precondition_failed"]);
    expect((await under(["if-match", 'W/"3"'], "POST", `${path}/restore`)).status).toBe(200);
  });

  test("a stale If-Match never merges, where a stale rev does", async () => {
    const path = await made();
    const edit = { labels: ["x"] };
    const stale = await under(["if-match", '"1"'], "PATCH", path, edit);
    expect(outcome(stale)).toEqual([412, "precondition_failed"]);
    const merged = await service.call("PATCH", `${path}?rev=1`, { body: edit });
    expect([merged.status, merged.body.data.title]).toEqual([200, "two"]);
    const conflict = await service.call("POST", `${path}/delete?rev=1`);
    expect(outcome(conflict)).toEqual([409, "revision_mismatch"]);
    const both = await under(["if-match", '"1"'], "PATCH", `${path}?rev=1`, edit);
    expect(outcome(both)).toEqual([412, "precondition_failed"]);
    const torn = await under(["if-match", '"3"'], "PATCH", `${path}?rev=1`, edit);
    expect(outcome(torn)).toEqual([400, "revision_ambiguous"]);
  });

  test("reads are 200, 304 or 412", async () => {
    const path = await made();
    const cases: readonly (readonly [readonly [string, string], number])[] = [
      [["if-match", '"2"'], 200],
      [["if-match", 'W/"2"'], 200],
      [["if-match", '"1"'], 412],
      [["if-match", "*"], 200],
      [["if-none-match", '"1", W/"2"'], 304],
      [["if-none-match", "*"], 304],
      [["if-none-match", '"1"'], 200],
      [["if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT"], 304],
      [["if-modified-since", "Thu, 01 Jan 2015 00:00:00 GMT"], 200],
      [["if-unmodified-since", "Thu, 01 Jan 2015 00:00:00 GMT"], 412],
    ];
    for (const [header, status] of cases)
      for (const method of ["GET", "HEAD"]) {
        const answer = await under(header, method, path);
        expect([...header, method, answer.status]).toEqual([...header, method, status]);
        if (status === 304) expect(answer.headers.get("etag")).toBe('"2"');
      }
  });

  test("a date that a read answers is one that it may be asked with", async () => {
    const path = await made();
    const modified = async (): Promise<string | null> =>
      (await service.call("GET", path)).headers.get("last-modified");
    await expect.poll(modified).not.toBeNull();
    const header = ["if-modified-since", (await modified()) ?? ""] as const;
    expect((await under(header, "GET", path)).status).toBe(304);
  });

  test("a missing document is 404, whatever the precondition", async () => {
    const path = "/tasks/01890000-0000-7000-8000-00000000dead";
    for (const method of ["GET", "DELETE"])
      expect((await under(["if-match", '"1"'], method, path)).status).toBe(404);
  });

  test("a repeated write under a key is one with the same preconditions", async () => {
    const body = { title: "keyed", project };
    const { body: task } = await service.post("/tasks", body);
    const call = (ifMatch: string): Promise<Answer> =>
      service.call("POST", `/tasks/${task.id}/complete`, {
        body: { rev: 1 },
        headers: { "idempotency-key": `k-${task.id}`, "if-match": ifMatch },
      });
    expect((await call('"1"')).status).toBe(200);
    expect((await call('"1"')).headers.get("idempotency-replayed")).toBe("true");
    expect(outcome(await call('"2"'))).toEqual([422, "idempotency_key_reused"]);
  });

  test.each(["/files", "/articles/blobs/files"])(
    "files of %s are kept by If-Match",
    async (root) => {
      const form = new FormData();
      form.set("file", new Blob(["%PDF-1.7\nx"]), "x.pdf");
      const { body, status } = await service.post(root, form);
      expect(status).toBe(201);
      const path = `${root}/${body.key}`;
      const head = await service.call("HEAD", path);
      const tag = head.headers.get("etag") ?? "";
      expect((await service.call("GET", path)).headers.get("etag")).toBe(tag);
      for (const header of [
        ["if-match", '"other"'],
        ["if-none-match", "*"],
        ["if-none-match", tag],
        ["if-unmodified-since", "Thu, 01 Jan 2015 00:00:00 GMT"],
      ] as const)
        expect(outcome(await under(header, "DELETE", path))).toEqual([412, "precondition_failed"]);
      expect((await under(["if-match", `"other", W/${tag}`], "DELETE", path)).status).toBe(204);
      expect((await service.call("GET", path)).status).toBe(404);
    },
  );
});
