// The table of phases in docs/registry.md: what a hook of each gets, and what its error does.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const phases = "before wrap tx_before tx_after after_commit on_success on_failure finally".split(
  " ",
);

/** What has run, in its order, with the third argument of each. */
const ran: (readonly [phase: string, third: unknown])[] = [];
Object.assign(globalThis, { phasesUnderTest: ran });

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  things:
    type: {text: string}
    guard: open
    idempotency: [create]
    hooks:
      create: {${phases.map((phase) => `${phase}: [registry/hooks.ts#${phase}_]`).join(", ")}}
`,
  "registry/hooks.ts": `import { outputValue } from "opwright/runtime";
const note = (phase, text, third) => {
  globalThis.phasesUnderTest.push([phase, third]);
  if (text === phase || (phase === "on_failure" && text === "tx_before")) throw new Error("it fails in " + phase);
};
${phases
  .filter((phase) => phase !== "wrap")
  .map(
    (phase) =>
      `export const ${phase}_ = ({ text }, _context, third) => note("${phase}", text, third);`,
  )
  .join("\n")}
export const wrap_ = async ({ text }, _context, next) => {
  note("wrap", text, typeof next);
  const output = await next({ text: text === "another" ? "given to next" : text });
  return text === "another" ? { ...outputValue(output), text: "returned by wrap" } : output;
};
`,
};

/** The table of the page, by phase. */
function documented(): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(new URL("../../../docs/registry.md", import.meta.url), "utf8");
  const rows = page
    .split("\n")
    .filter((line) => /^\| `\w+` \| (?:before|around|in|after|at) /.test(line));
  return new Map(
    rows.map((row) => {
      const [, phase = "", ...cells] = row.split("|").map((cell) => cell.trim());
      return [phase.replaceAll("`", ""), cells] as const;
    }),
  );
}

onEachEngine(files, ({ service }) => {
  const make = async (text: string, headers = {}) => {
    ran.length = 0;
    const answer = await service.call("POST", "/things", { body: { text }, headers });
    const { body } = await service.post("/things/list", { filters: { $values: { text } } });
    return { status: answer.status, text: answer.body.text, stored: body.hits.length as number };
  };

  test("they run in the order of the page, each with the third argument that it says", async () => {
    const table = documented();
    expect([...table.keys()]).toEqual(phases);
    await make("fine");
    const thirds = new Map(ran);
    expect(ran.map(([phase]) => phase)).toEqual(phases.filter((phase) => phase !== "on_failure"));
    await make("tx_before");
    expect(ran.map(([phase]) => phase)).toEqual(
      "before wrap tx_before on_failure finally".split(" "),
    );
    for (const [phase, third] of [...thirds, ...ran]) {
      const said = table.get(phase)?.[1];
      const kind =
        third === undefined
          ? ""
          : third === "function"
            ? "`next`"
            : third instanceof Error
              ? "the error"
              : "the output";
      expect([phase, said]).toEqual([phase, kind]);
    }
  });

  test("its error does what the page says", async () => {
    for (const [phase, [, , error]] of documented()) {
      const { status, stored } = await make(phase);
      // The error of `on_failure` needs another one before it.
      const is = phase === "on_failure" ? (await make("tx_before")).status : status;
      const does =
        is === 500 && stored === 0 && phase !== "on_failure"
          ? phase.startsWith("tx_")
            ? "rolls back, and refuses the call"
            : "refuses the call"
          : "is logged";
      expect([phase, error?.split(";")[0]]).toEqual([phase, does]);
    }
  });

  test("only wrap gives the operation another input, and the caller another answer", async () => {
    expect(await make("another")).toEqual({ status: 201, text: "returned by wrap", stored: 0 });
    const { body } = await service.post("/things/list", {
      filters: { $values: { text: "given to next" } },
    });
    expect(body.hits).toHaveLength(1);
  });

  test("a repeated call that is answered from its key runs what is outside of the transaction", async () => {
    const headers = { "idempotency-key": "once" };
    await make("keyed", headers);
    expect(await make("keyed", headers)).toMatchObject({ status: 201, stored: 1 });
    expect(ran.map(([phase]) => phase)).toEqual(["before", "wrap", "on_success", "finally"]);
  });
});
