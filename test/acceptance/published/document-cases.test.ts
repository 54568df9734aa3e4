// The document is the whole truth: requests of every kind that it describes, and ones that are nearly so, on each engine.
// A failing case is replayed by OPWRIGHT_TEST_SEED; OPWRIGHT_TEST_CASES says how many an operation has (`npm run test:long`).
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import openapi from "../../../generated/openapi.json" with { type: "json" };
import { identitySpec } from "../../../generated/identity.js";
import { issueSession } from "../../../runtime/families/identity/operations.js";
import { engines } from "../../support/engines.js";
import { Driver } from "../../property/document/driver.js";
import { OpenApiDocument, type Operation } from "../../property/document/open-api.js";
import { requestsOf } from "../../property/document/requests.js";
import { startTestService, type TestService } from "../../support/service.js";

const numRuns = Number(process.env["OPWRIGHT_TEST_CASES"] ?? 16);
const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const document = new OpenApiDocument(openapi);
/** Operations whose sound requests carry a password, a signed session, a revision that is kept, the id of what this service has none of,
 * or a topic that somebody may hear. */
const needMore: readonly string[] = [
  "authn.change_password",
  "authn.password_login",
  "authn.reset_password",
  "authn.refresh_tokens",
  "files.abort_upload",
  "files.complete_upload",
  "files.list_parts",
  "files.presign_part",
  "job_runs.cancel",
  "job_runs.get",
  "job_runs.retry",
  "places.get",
  "projects.revert",
  "realtime.presence",
  "tenant_admin.remove_member",
  "tenants.leave_tenant",
  "tenants.switch_tenant",
  "webhooks.delete",
  "webhooks.redeliver",
  "webhooks.test",
];
/** What makes something comes first; what removes it, and what changes it later, last. */
const rank = ({ method, responses }: Operation): number =>
  "201" in responses ? 0 : method === "DELETE" || "202" in responses ? 2 : 1;
/** The seeds to draw requests from until one is accepted: the next ones are for what few draws rarely get right. */
const seriesOf = ({ key }: Operation): readonly number[] =>
  needMore.includes(key) ? [seed] : Array.from({ length: 12 }, (_, index) => seed + index);
const operations = document.operations.toSorted((one, other) => rank(one) - rank(other));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let driver: Driver;
    beforeAll(async () => {
      service = await startTestService(engine, { environment: { PAGE_CEILING: "none" } });
      const { connection } = service.running;
      const { id, tenantId } = service.tester;
      driver = new Driver({
        url: service.url,
        document,
        reserved: new Set([id, tenantId]),
        credential: async () => {
          const tokens = await connection.write("test.session", (context) =>
            issueSession(identitySpec, context, { principalId: id, tenant: tenantId }),
          );
          return `Bearer ${tokens.access_token}`;
        },
      });
    });
    afterAll(async () => {
      driver.stop();
      await service.stop();
    });

    test.each(operations)(
      "$key takes what the document says",
      async (operation) => {
        const requests = requestsOf(document, operation);
        const drive = fc.asyncProperty(requests, async (request) => {
          await driver.drive(operation, request);
        });
        for (const series of seriesOf(operation)) {
          const { failed, errorInstance } = await fc.check(drive, { numRuns, seed: series });
          if (failed) {
            expect.fail(`OPWRIGHT_TEST_SEED=${series} replays it.\n${String(errorInstance)}`);
          }
          if ((driver.tallies.get(operation.key)?.accepted ?? 0) > 0) break;
        }
      },
      600_000,
    );

    test("every operation takes some, but for those that need what only people have", () => {
      const untaken = [...driver.tallies].flatMap(([key, { accepted }]) =>
        accepted === 0 && !needMore.includes(key) ? [key] : [],
      );
      expect(untaken).toEqual([]);
    });
  });
}
