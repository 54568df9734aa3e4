import { describe, expect, test } from "vitest";
import type { WaitingWebhook } from "../../ports/webhooks.js";
import { most, Shares } from "./shares.js";

/** Webhooks of an owner, each with as much to do as it may. */
function owned(tenant: string, principalId: string, count: number): readonly WaitingWebhook[] {
  return Array.from({ length: count }, (_none, index) => ({
    id: `${tenant}-${principalId}-${index}`,
    tenant,
    principalId,
  }));
}

function times(begun: readonly WaitingWebhook[], of: (webhook: WaitingWebhook) => string) {
  const counts = new Map<string, number>();
  for (const webhook of begun) counts.set(of(webhook), (counts.get(of(webhook)) ?? 0) + 1);
  return counts;
}

describe("shares of the calls", () => {
  test("an owner and a webhook have no more than their share", () => {
    const shares = new Shares();
    const begun = shares.begin(owned("a", "ann", 20));
    expect(begun).toHaveLength(most.ofOwner);
    expect(new Shares().begin(owned("a", "ann", 1))).toHaveLength(most.ofWebhook);
  });

  test.each([
    ["of one tenant", (_index: number) => "a"],
    ["of a tenant each", (index: number) => `t${index}`],
  ])("beside five owners %s whose webhooks never answer, anybody begins at once", (_what, of) => {
    const shares = new Shares();
    const silent = Array.from({ length: 5 }, (_none, index) =>
      owned(of(index), `silent${index}`, 20),
    );
    shares.begin(silent.flat());
    // Nothing has ended, and others have their turn all the same.
    expect(shares.begin([...silent.flat(), ...owned("a", "ann", 1)])).toContainEqual(
      owned("a", "ann", 1)[0],
    );
    expect(shares.begin([...silent.flat(), ...owned("b", "bob", 1)])).toContainEqual(
      owned("b", "bob", 1)[0],
    );
  });

  test("a whole tenant of silent owners leaves room for another tenant", () => {
    const shares = new Shares();
    const silent = Array.from({ length: 60 }, (_none, index) => owned("a", `silent${index}`, 20));
    shares.begin(silent.flat());
    expect(shares.begin([...silent.flat(), ...owned("b", "bob", 20)])).toEqual([
      expect.objectContaining({ tenant: "b" }),
    ]);
  });

  test("turns go round tenants, then owners, however many webhooks each has", () => {
    const shares = new Shares();
    const waiting = [
      ...owned("many", "one", 20),
      ...owned("many", "two", 1),
      ...owned("few", "three", 1),
    ];
    const turns: WaitingWebhook[] = [];
    for (let round = 0; round < 400; round += 1) {
      const begun = shares.begin(waiting);
      turns.push(...begun);
      // The calls end in the order in which they began, one after the other.
      const [first] = begun;
      if (first !== undefined) for (const webhook of begun) shares.end(webhook);
    }
    const tenants = times(turns, ({ tenant }) => tenant);
    expect((tenants.get("few") ?? 0) / turns.length).toBeGreaterThan(0.2);
    const owners = times(turns, ({ principalId }) => principalId);
    // Two of one webhook at a time, against four of one owner.
    expect(owners.get("two")).toBe((owners.get("one") ?? 0) / 2);
  });

  test("what has ended makes room", () => {
    const shares = new Shares();
    const waiting = owned("a", "ann", 20);
    const begun = shares.begin(waiting);
    expect(shares.begin(waiting)).toEqual([]);
    for (const webhook of begun) shares.end(webhook);
    const others = shares.begin(waiting);
    expect(others).toHaveLength(most.ofOwner);
    // Whose last turn is longest ago comes first.
    expect(others.some(({ id }) => begun.some((webhook) => webhook.id === id))).toBe(false);
  });
});
