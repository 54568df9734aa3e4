// The documents that a service serves name the address at which clients reach it; those that are committed name none (OpenAPI 3.1 "Server Object").
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { generated, startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;
const committed = (name: string): string => readFileSync(`${generated}/${name}`, "utf8");

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

async function started(environment: Readonly<Record<string, string>>): Promise<TestService> {
  if (sqlite === undefined) throw new Error("no engine");
  service = await startTestService(sqlite, { environment });
  return service;
}

describe("with PUBLIC_URL", () => {
  test.each([
    ["https://api.example", "https://api.example"],
    ["https://api.example:8443/tracker/", "https://api.example:8443/tracker"],
    // Characters of a replacement pattern.
    ["https://api.example/$&$1", "https://api.example/$&$1"],
  ])("%s is the first server of the OpenAPI document", async (setting, url) => {
    const running = await started({ PUBLIC_URL: setting });
    const { servers, ...rest } = (await running.call("GET", "/openapi.json")).body;
    const { servers: printed, ...others } = JSON.parse(committed("openapi.json"));
    expect(printed).toEqual([{ url: "/", description: "This service" }]);
    expect(servers).toEqual([
      { url, description: "This service" },
      { url: "/", description: "Where this document was read" },
    ]);
    expect(rest).toEqual(others);
  });

  test("its host and base path are those of the AsyncAPI document", async () => {
    const running = await started({ PUBLIC_URL: "https://api.example:8443/tracker" });
    const { body } = await running.call("GET", "/asyncapi.json");
    const { host } = body.components.serverVariables;
    expect(host.default).toBe("api.example:8443");
    const printed = JSON.parse(committed("asyncapi.json"));
    printed.components.serverVariables.host.default = host.default;
    for (const server of Object.values<{ pathname: string }>(printed.servers))
      server.pathname = "/tracker/realtime";
    expect(body).toEqual(printed);
  });

  test("another address is another version of the document", async () => {
    const tagAt = async (url: string): Promise<string> => {
      const running = await started({ PUBLIC_URL: url });
      const { headers } = await running.call("GET", "/openapi.json");
      const etag = headers.get("etag") ?? "";
      const again = { headers: { "if-none-match": etag } };
      expect((await running.call("GET", "/openapi.json", again)).status).toBe(304);
      await running.stop();
      return etag;
    };
    expect(await tagAt("https://one.example")).not.toBe(await tagAt("https://two.example"));
  });
});

test("without PUBLIC_URL both are served as they are committed", async () => {
  const running = await started({});
  for (const name of ["openapi.json", "asyncapi.json"])
    expect(await (await fetch(`${running.url}/${name}`)).text()).toBe(committed(name));
});
