// Hooks of the author's own in policies: they refuse calls up to the commit.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
errors:
  secret_note: {kind: authorization, detail: The note is secret.}
hooks:
  discreet: {run: registry/hooks.ts#discreet, phase: tx_after, errors: [secret_note]}
policies:
  open: []
  quiet: [discreet]
  polite: [registry/hooks.ts#polite]
documents:
  notes: {type: {text: string}, guard: {read: quiet, create: quiet, write: open}}
  letters: {type: {text: string}, guard: polite}
  replies: {type: {note: {ref: notes}}, guard: open}
`,
  "registry/hooks.ts": `import { fail as refuse } from "opwright/runtime";
import { fail } from "../generated/errors.js";
export const polite = ({ text }) => {
  if (text !== "please") throw refuse("core.authorization");
};
export const discreet = (_input, _context, output) => {
  if (JSON.stringify(output).includes("secret")) throw fail("secret_note");
};
`,
};

onEachEngine(files, ({ service }) => {
  test("a function in a policy is asked before the operation", async () => {
    expect((await service.post("/letters", { text: "now" })).status).toBe(403);
    expect((await service.post("/letters", { text: "please" })).status).toBe(201);
    expect((await service.post("/letters/list", {})).status).toBe(403);
  });

  test("a hook after the handler refuses a write, of which nothing stays, and a read", async () => {
    const refused = await service.post("/notes", { text: "a secret" });
    expect([refused.status, refused.body.code]).toEqual([403, "secret_note"]);
    expect((await service.post("/notes/list", {})).body).toMatchObject({ hits: [] });
    const { id, rev } = (await service.post("/notes", { text: "plain" })).body;
    expect((await service.call("GET", `/notes/${String(id)}`)).status).toBe(200);
    const changed = await service.call("PATCH", `/notes/${String(id)}`, {
      body: { text: "a secret" },
      headers: { "if-match": `"${String(rev)}"` },
    });
    expect(changed.status).toBe(200);
    const reads = [
      await service.call("GET", `/notes/${String(id)}`),
      await service.post("/notes/list", {}),
    ];
    for (const read of reads) {
      expect([read.status, read.body.code, JSON.stringify(read.body)]).toEqual([
        403,
        "secret_note",
        expect.not.stringContaining("a secret"),
      ]);
    }
    // No hook of a policy looks at what comes along, so it doesn't come along.
    const reply = `/replies/${String((await service.post("/replies", { note: id })).body.id)}`;
    expect((await service.call("GET", reply)).status).toBe(200);
    expect((await service.call("GET", `${reply}?expand=note`)).status).toBe(422);
  });
});
