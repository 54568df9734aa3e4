// Load over 64 connections, or BENCH_CONNECTIONS: by wrk where it is installed, otherwise by autocannon, which parses answers
// in JavaScript, so that each header of an answer costs the machine more there than in the server.
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import autocannon from "autocannon";
import { amount, missing } from "./tools.mjs";

const connections = Number(process.env.BENCH_CONNECTIONS ?? 64);
const hasWrk = spawnSync("wrk", ["--version"]).error === undefined;

/** What made the load, for the report. */
export const generator = hasWrk ? "wrk" : "autocannon";

const warmSeconds = amount(1, 0);
/** In brief, load ends with its answers: on a busy machine none may come in a short time. */
const until = amount(
  (duration) => ({ duration }),
  () => ({ amount: 4 * connections, sampleInt: 50 }),
);

/** Load for as long as a server needs to be warm. */
export async function warmUp(request) {
  if (warmSeconds > 0) await loaded(request, warmSeconds);
}

/** Requests a second; throws if an answer is an error, or none comes. */
export async function load(request, duration) {
  return (await loaded(request, duration)).average;
}

/** The same, with how many requests they were in all. */
export async function loaded(request, duration) {
  if (!hasWrk) missing.add("load by wrk, which is not installed: it came from autocannon");
  const { bad, ...result } = hasWrk
    ? await byWrk(request, duration)
    : await byAutocannon(request, duration);
  if (bad > 0 || result.total === 0)
    throw new Error(`${request.url}: ${result.total} answers, ${bad} of them bad`);
  return result;
}

/**
 * A request may have `turns`: headers of which each next request has other ones, as requests of many callers do.
 */
async function byAutocannon({ turns, ...request }, duration) {
  const result = await autocannon({
    ...request,
    ...(turns === undefined ? {} : { requests: turns.map((headers) => ({ headers })) }),
    connections: request.connections ?? connections,
    pipelining: 1,
    ...until(duration),
  });
  const { total } = result.requests;
  return { average: total / result.duration, total, bad: result.non2xx + result.errors };
}

/** Has wrk send requests that it has made before the load begins, one after the other. */
function inTurn(turns) {
  const fields = (headers) =>
    Object.entries(headers).map(
      ([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
    );
  return [
    "local made, at = {}, 0",
    `local turns = {${turns.map((headers) => `{${fields(headers).join(", ")}}`).join(", ")}}`,
    "function init() for i, headers in ipairs(turns) do made[i] = wrk.format(nil, nil, headers) end end",
    "function request() at = at % #made + 1; return made[at] end",
  ];
}

async function byWrk({ url, method = "GET", headers = {}, body, turns, ...given }, duration) {
  const folder = mkdtempSync(join(tmpdir(), "opwright-wrk-"));
  const script = join(folder, "request.lua");
  // A string of JSON is a string of Lua, as far as benches go: no escapes but \" and \\.
  const lua = [
    `wrk.method = ${JSON.stringify(method)}`,
    ...Object.entries(headers).map(
      ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
    ),
    ...(body === undefined ? [] : [`wrk.body = ${JSON.stringify(body)}`]),
    ...(turns === undefined ? [] : inTurn(turns)),
  ];
  writeFileSync(script, lua.join("\n"));
  const options = [
    "-t1",
    `-c${given.connections ?? connections}`,
    `-d${amount(duration, 1)}s`,
    "-s",
    script,
    url,
  ];
  const { stdout } = await promisify(execFile)("wrk", options).finally(() =>
    rmSync(folder, { recursive: true }),
  );
  const [, total, seconds] = /(\d+) requests in ([\d.]+)s/.exec(stdout) ?? [];
  if (total === undefined) throw new Error(stdout);
  const failures = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(
    stdout,
  );
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(stdout);
  const bad = [...(failures?.slice(1) ?? []), refused?.[1] ?? "0"].reduce(
    (sum, n) => sum + Number(n),
    0,
  );
  return { average: Number(total) / Number(seconds), total: Number(total), bad };
}
