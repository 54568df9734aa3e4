// Any deletion can be undone, whatever was deleted, restored and killed before: random graphs of documents.
import fc from "fast-check";
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  nodes:
    type: {round: string, up: {ref: nodes?, on_delete: cascade}, beside: {ref: nodes?, on_delete: set_null}, on: {ref: nodes?}, among: [{ref: nodes, on_delete: remove}]}
    defaults: {among: []}
    guard: open
    tenant: false
    soft_delete: {list_deleted: true}
  leaves:
    type: {round: string, up: {ref: nodes, on_delete: cascade}, beside: {ref: nodes?, on_delete: set_null}, among: [{ref: nodes, on_delete: remove}]}
    defaults: {among: []}
    guard: open
    tenant: false
    soft_delete: {list_deleted: true}
  pins: {type: {round: string, at: {ref: nodes?, on_delete: set_null}}, guard: open, tenant: false}
`,
};

type Row = Readonly<Record<string, string | boolean | readonly string[] | null>> & {
  readonly id: string;
};
/** What a step does: to which document, and which it names, by their places in the order of creation. */
type Step = {
  readonly does: string;
  readonly to: number;
  readonly member: number;
  readonly named: number;
};
const kinds = ["nodes", "leaves", "pins"] as const;
const members = {
  nodes: ["up", "beside", "on", "among"],
  leaves: ["up", "beside", "among"],
  pins: ["at"],
};
const any = { "If-Match": "*" };

/** A member that names one more, or another one. */
function naming(row: Row | undefined, member: string, id: string): string | readonly string[] {
  if (member !== "among") return id;
  const named = row?.[member];
  return Array.isArray(named) ? [...new Set<string>([...named, id])] : [id];
}

/** A row whose lists have an order of their own: what comes back is the last of them. */
function sorted({ among, ...row }: Row): Row {
  return Array.isArray(among) ? { ...row, among: (among as string[]).toSorted() } : row;
}

/** The entry at a place, counted around. */
function pick<T>(entries: readonly T[], at: number): T {
  const found = entries[at % entries.length];
  if (found === undefined) throw new TypeError("nothing to pick");
  return found;
}

const steps = fc.array(
  fc.record<Step>({
    does: fc.constantFrom(
      "create",
      "name",
      "delete",
      "delete",
      "restore",
      "restore",
      "kill",
      "undo",
    ),
    to: fc.nat(30),
    member: fc.nat(5),
    named: fc.nat(30),
  }),
  { minLength: 10, maxLength: 40 },
);

onEachEngine(files, ({ service }) => {
  let rounds = 0;
  const rowsOf = async (kind: string, round: string): Promise<Row[]> => {
    const filters = { $values: { round } };
    const asked = kind === "pins" ? { filters } : { filters, with_deleted: true };
    return (await service.post(`/${kind}/list`, { ...asked, size: 100 })).body.hits;
  };
  /** All documents of a round by their ids, as far as a deletion and its undoing leave them. */
  const stateOf = async (round: string): Promise<Map<string, Row>> => {
    const rows = await Promise.all(kinds.map((kind) => rowsOf(kind, round)));
    const told = rows
      .flat()
      .map(({ rev: _rev, last_update_at: _at, ...row }) => [row.id, sorted(row)] as const);
    return new Map(told.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  const expectWhole = (state: ReadonlyMap<string, Row>): void => {
    for (const row of state.values())
      for (const member of ["up", "beside", "on", "at", "among"])
        for (const named of [row[member]].flat()) {
          if (typeof named !== "string") continue;
          // What may come back keeps what it names, and what is there names what is there.
          expect(state.has(named)).toBe(true);
          if (row.is_deleted !== true) expect(state.get(named)?.is_deleted).toBe(false);
        }
  };

  test("of random graphs", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        rounds += 1;
        const round = `${rounds}`;
        const made: { kind: (typeof kinds)[number]; id: string }[] = [];
        const root = await service.post("/nodes", { round });
        made.push({ kind: "nodes", id: root.body.id });
        for (const { does, to, member, named } of all) {
          const one = pick(made, to);
          const nodes = made.filter(({ kind }) => kind === "nodes");
          const other = pick(nodes, named).id;
          const at = `/${one.kind}/${one.id}`;
          const before = await stateOf(round);
          if (does === "create") {
            const kind = pick(kinds, to);
            const names = members[kind];
            const further = pick(names, member);
            const body = {
              round,
              [pick(names, 0)]: other,
              [further]: naming(undefined, further, other),
            };
            const {
              status,
              body: { id },
            } = await service.post(`/${kind}`, body);
            expect([201, 422]).toContain(status);
            if (status === 201) made.push({ kind, id });
          } else if (does === "name") {
            const names = members[one.kind];
            const changed = pick(names, member);
            const body = { [changed]: naming(before.get(one.id), changed, other) };
            await service.call("PATCH", at, { body, headers: any });
          } else if (does === "kill") {
            await service.call("DELETE", at);
          } else if (one.kind !== "pins") {
            let isDone = true;
            for (const verb of does === "undo" ? ["delete", "restore"] : [does]) {
              const answer = await service.call("POST", `${at}/${verb}`, { headers: any });
              // What has just been deleted can be restored.
              const isSure = does === "undo" && verb === "restore";
              expect(isSure ? [200] : [200, 400, 404, 409, 422]).toContain(answer.status);
              isDone = answer.status === 200;
              if (!isDone) break;
            }
            if (does === "undo" || !isDone) expect(await stateOf(round)).toEqual(before);
          }
          expectWhole(await stateOf(round));
        }
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
