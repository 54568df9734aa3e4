// Which servers a Redis URL names, and what is wrong with one that can't be read.
import { describe, expect, test } from "vitest";
import { redisAddresses, redisAddressFault } from "./addresses.js";

const read = (url: string) => {
  const addresses = redisAddresses(url);
  if (addresses.kind === "server") return addresses.url;
  const { urls, master, urlOf } = addresses;
  return [...urls, master, urlOf({ host: "m", port: 7 })];
};

describe("a Redis URL", () => {
  test.each([
    ["redis://u:p@a:1/2", "redis://u:p@a:1/2"],
    ["rediss://a", "rediss://a"],
    ["redis+sentinel://a/m", ["redis://a:26379", "m", "redis://m:7/0"]],
    ["redis+sentinel://a:1,b/m", ["redis://a:1", "redis://b:26379", "m", "redis://m:7/0"]],
    [
      "rediss+sentinel://u:p%40s@a,[::1]:5/my%20m/3?sentinel_username=s&sentinel_password=q%23",
      ["rediss://s:q%23@a:26379", "rediss://s:q%23@[::1]:5", "my m", "rediss://u:p%40s@m:7/3"],
    ],
    [
      "redis+sentinel://:p@a/m?sentinel_password=q",
      ["redis://:q@a:26379", "m", "redis://:p@m:7/0"],
    ],
  ])("%s", (url, expected) => {
    expect(read(url)).toEqual(expected);
  });

  test("a master with an IPv6 address", () => {
    const addresses = redisAddresses("redis+sentinel://a/m");
    if (addresses.kind === "server") throw new Error("not Sentinels");
    expect(addresses.urlOf({ host: "::1", port: 7 })).toBe("redis://[::1]:7/0");
  });

  test.each([
    ["redis+sentinel://a", /must name Sentinels and a master/],
    ["redis+sentinel://a/m/x", /must name Sentinels and a master/],
    ["redis+sentinel:///m", /names a host that can't be read: number 1/],
    ["redis+sentinel://a,/m", /names a host that can't be read: number 2/],
    ["redis+sentinel://a:0/m", /names a host that can't be read/],
    ["redis+sentinel://a:65536/m", /names a host that can't be read/],
    ["redis+sentinel://:p#q@a/m", /must name Sentinels|can't be read/],
    ["redis+sentinel://a/%/0", /can't be read/],
    ["redis+sentinel://a/m?db=1", /may have sentinel_username and sentinel_password, and no other/],
    ["redis+sentinel://u:topsecret,h/m", /^names a host that can't be read: number 1$/],
    ["redis+sentinel://u%zz:p@h/m", /can't be read/],
    ["redis+sentinel://a/m/999999", /must name Sentinels and a master/],
    ["redis://a:b:c", /can't be read/],
    ["redis://u%zz:p@a", /can't be read/],
    ["redis://a/abc", /must name a database by its number/],
  ])("%s is refused", (url, fault) => {
    expect(redisAddressFault(url)).toMatch(fault);
  });
});
