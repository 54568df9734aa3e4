// The hub: an ephemeral signal is for those who are there at the end of its tick.
import { expect, test } from "vitest";
import { Signal } from "../../ports/signal.js";
import { memoryHub, type HubMember } from "./hub.js";

const endOfTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function memberOf(heard: string[]): HubMember {
  return {
    tenant: "t",
    principalId: "p",
    hint: () => undefined,
    wants: () => undefined,
    signals: (signals) => void heard.push(...signals.map(({ data }) => data)),
  };
}

const signal = (data: string): Signal => new Signal("told", data, null);

test("what is published in the tick in which a connection takes the place of the only other one is heard once", async () => {
  const hub = memoryHub(Signal.ofEntry);
  const [earlier, next]: [string[], string[]] = [[], []];
  const first = memberOf(earlier);
  hub.join(first);
  hub.hear(first, "a");
  hub.publish("t", { topic: "a" }, signal("by topic"));
  hub.publish("t", { principal: "p" }, signal("own"));
  hub.leave(first);
  hub.unhear(first, "a");
  const second = memberOf(next);
  hub.join(second);
  hub.hear(second, "a");
  await endOfTick();
  expect([earlier, next]).toEqual([[], ["by topic", "own"]]);
});

test("a topic and a principal of one name, and two tenants, are told apart", async () => {
  const hub = memoryHub(Signal.ofEntry);
  const heard: string[] = [];
  hub.hear(memberOf(heard), "p");
  hub.publish("t", { principal: "p" }, signal("own"));
  hub.publish("other", { topic: "p" }, signal("of another"));
  hub.publish("t", { topic: "p" }, signal("mine"));
  await endOfTick();
  expect(heard).toEqual(["mine"]);
});
