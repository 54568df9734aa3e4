// Values at the edge of their type: refused, or stored and then fit for every query, alike on both engines.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqlite } from "../../../runtime/engines/sqlite/driver.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const edges: Readonly<Record<string, readonly unknown[]>> = {
  day: [
    "0000-01-01",
    "0000-12-31",
    "0001-01-01",
    "1582-10-10",
    "1899-12-31",
    "2000-02-29",
    "2100-02-29",
    "9999-12-31",
    "10000-01-01",
    "infinity",
    "now",
    "2026-1-1",
  ],
  at: [
    "0000-06-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "0001-01-01T00:00:00-23:59",
    "1883-11-18T12:03:57Z",
    "1899-12-31T23:59:59Z",
    "1900-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999999999Z",
    "2100-07-01T12:00:00Z",
    "2500-07-01T12:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59-00:01",
    "2016-12-31T23:59:60Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00-00:00",
    "infinity",
  ],
  size: [0, -0, 5e-324, 1e-320, 1.7976931348623157e308, -1.7976931348623157e308, 0.1, 1e23],
  count: [0, 9007199254740991, -9007199254740991, 1e15, 4.0, 0.5],
  label: [
    "",
    "\u0000",
    "a\u0000b",
    "\ud800",
    "\u{10ffff}",
    "\\",
    "%",
    "_",
    "'",
    "e\u0301",
    "\ufeff",
  ],
  link: [
    "00000000-0000-0000-0000-000000000000",
    "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "{00000000-0000-0000-0000-000000000000}",
    "00000000000000000000000000000000",
  ],
};
const operators = ["$eq", "$neq", "$gt", "$gte", "$lt", "$lte"];
const units = ["hour", "day", "week", "month"];
const zones = ["UTC", "Pacific/Kiritimati", "America/New_York", "Asia/Kolkata"];

let project: TestProject;
beforeAll(async () => {
  project = await testProject({
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  things:
    type:
      day: {type: [string, "null"], format: date}
      at: date-time?
      size: number?
      count: integer?
      label: string?
      link: uuid?
    guard: open
    indexes: [[day], [at], [size], [count], [label]]
`,
  });
});
afterAll(() => project?.remove());

/** Everything that can be asked of a field with these values: the statuses, and the answers of aggregates. */
async function asked(service: TestService, field: string, values: readonly unknown[]) {
  const answers: unknown[] = [];
  const ask = async (path: string, body: object) => {
    const { status, body: answer } = await service.post(path, body);
    answers.push([JSON.stringify(body), status, answer.count ?? answer.code]);
    return answer;
  };
  for (const value of values) {
    for (const operator of operators)
      await ask("/things/list", { filters: { $values: { [field]: { [operator]: value } } } });
    await ask("/things/list", { filters: { $values: { [field]: [value] } } });
  }
  for (const order of ["asc", "desc"]) await ask("/things/list", { sorts: { [field]: order } });
  const numbers = ["$sum", "$avg", "$median", "$stddev_pop", "$var_samp"];
  const functions = [
    "$min",
    "$max",
    "$count_distinct",
    ...(/size|count/.test(field) ? numbers : []),
  ];
  for (const name of functions)
    await ask("/things/agg_list", { aggregates: { $computed: { it: { [name]: field } } } });
  if (field !== "day" && field !== "at") return answers;
  for (const unit of units)
    for (const timezone of zones) {
      const $groups = { it: { $trunc: { field, unit, timezone } } };
      const { hits } = await ask("/things/agg_list", {
        aggregates: { $groups, $computed: { n: { $count: {} } } },
        size: 50,
      });
      answers.push(hits);
    }
  return answers;
}

const available = engines.filter(({ isAvailable }) => isAvailable);

describe("edge values", () => {
  for (const [field, values] of Object.entries(edges))
    test(`of ${field} break no query, and engines agree on them`, async () => {
      const all: unknown[] = [];
      for (const engine of available) {
        const service = await project.start(engine);
        const stored: unknown[] = [];
        for (const value of values) {
          const { status, body } = await service.post("/things", { [field]: value });
          stored.push([value, status, status === 201 ? body[field] : body.code]);
        }
        const answers = await asked(service, field, values);
        expect(
          [...stored, ...answers].filter((one) => Array.isArray(one) && one[1] >= 500),
        ).toEqual([]);
        all.push({ stored, answers });
        await service.stop();
      }
      for (const one of all) expect(one).toEqual(all[0]);
    });

  test("a date of year 0000 is refused", async () => {
    for (const engine of available) {
      const service = await project.start(engine);
      const { status, body } = await service.post("/things", { day: "0000-01-01" });
      expect([status, body.code]).toEqual([422, "core.validation"]);
      await service.stop();
    }
  });

  for (const engine of engines)
    test.skipIf(!engine.isAvailable)(
      `one that is stored already breaks no query on ${engine.name}`,
      async () => {
        const database = await engine.create();
        const service = await project.start({ ...engine, create: async () => database });
        for (const day of ["1999-01-01", "2026-02-03"]) await service.post("/things", { day });
        await putDay(database.url, "1999-01-01", "0000-02-03");
        const $groups = { it: { $trunc: { field: "day", unit: "month" } } };
        const { status, body } = await service.post("/things/agg_list", {
          aggregates: { $groups },
        });
        expect([status, body.hits]).toEqual([200, [{ it: null }, { it: "2026-02-01T00:00:00" }]]);
        await service.stop();
      },
    );
});

/** Changes a stored date past the service, as versions before this one stored it. */
async function putDay(url: string, from: string, to: string): Promise<void> {
  const replaced = (body: string): string => `replace(${body}, '${from}', '${to}')`;
  if (url.startsWith("sqlite:")) {
    const connection = openSqlite(url.slice("sqlite:".length));
    connection.exec(`UPDATE things SET body = ${replaced("body")}`);
    connection.close();
    return;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`UPDATE things SET body = ${replaced("body::text")}::jsonb`);
  await client.end();
}

for (const engine of engines)
  describe.skipIf(!engine.isAvailable)(`time zones on ${engine.name}`, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await project.start(engine);
      await service.post("/things", { at: "2026-01-31T20:00:00Z" });
    });
    afterAll(() => service.stop());

    const months = async (timezone: string) => {
      const $groups = { it: { $trunc: { field: "at", unit: "day", timezone } } };
      const { status, body } = await service.post("/things/agg_list", { aggregates: { $groups } });
      return [status, body.hits?.[0]?.it ?? body.code];
    };

    test.each([
      ["Asia/Kolkata", "Asia/Calcutta"],
      ["Europe/Kyiv", "Europe/Kiev"],
      ["Asia/Kathmandu", "Asia/Katmandu"],
      ["America/Nuuk", "America/Godthab"],
      ["Asia/Yangon", "Asia/Rangoon"],
      ["Asia/Ho_Chi_Minh", "Asia/Saigon"],
      ["Atlantic/Faroe", "Atlantic/Faeroe"],
      ["Pacific/Kanton", "Pacific/Enderbury"],
      ["America/Argentina/Buenos_Aires", "America/Buenos_Aires"],
      ["America/New_York", "US/Eastern"],
    ])("%s and %s are one zone", async (current, earlier) => {
      const answer = await months(current);
      expect(answer[0]).toBe(200);
      expect(await months(earlier)).toEqual(answer);
    });

    test("a name that nobody knows, an offset and an abbreviation are refused", async () => {
      for (const zone of ["Europe/Atlantis", "+02:00", "CET", "posix/Europe/Berlin", "localtime"])
        expect(await months(zone)).toEqual([422, "query_invalid"]);
    });
  });
