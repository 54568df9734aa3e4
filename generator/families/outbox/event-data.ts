// The checks of what integration events carry, and their names in generated code.
import { refTo } from "../../model/json-schema.js";
import type { KeptValue } from "../../model/kept-values.js";
import type { OutboxEventModel } from "./model.js";
import type { RegistryModel } from "../../model/registry.js";
import type { ToldPlans } from "../../model/validator-plan.js";
import { camelNames } from "../../print/printed-names.js";

type Events = Readonly<Record<string, OutboxEventModel>>;

/** The module of these checks. No namespace can have this name, because of the hyphen. */
export const eventDataModule = "outbox-events";

/** The name of the check of each event of the author's own. */
export function eventDataNames(events: Events): ReadonlyMap<string, string> {
  const own = Object.entries(events).filter(([, { typeName }]) => typeName !== null);
  return camelNames(own.map(([event]) => event));
}

/** A check for the data of each event of the author's own. */
export function toldEvents({ outbox }: RegistryModel): Readonly<Record<string, ToldPlans>> {
  if (outbox === null) return {};
  const names = eventDataNames(outbox);
  const plans = Object.entries(outbox).flatMap(([event, { typeName }]) =>
    typeName === null ? [] : [{ name: names.get(event) ?? "", schema: refTo(typeName), typeName }],
  );
  return { [eventDataModule]: { holds: "eventData", plans } };
}

/** The events of the author's own, which wait for their delivery. */
export function keptEvents({ outbox }: RegistryModel): readonly KeptValue[] {
  return Object.entries(outbox ?? {}).flatMap(([name, { typeName, was }]) =>
    typeName === null ? [] : [{ kind: "events", name, was, schema: refTo(typeName) }],
  );
}
