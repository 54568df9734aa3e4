// Tickets: what customers leave to agents, and who hears of what.
import { collection, fail, outputValue, unscoped, type ExecutionContext } from "opwright/runtime";
import { clientsSpec } from "../generated/documents/clients.js";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { usersSpec } from "../generated/documents/users.js";
import { may } from "../generated/identity.js";
import { stageEvent } from "../generated/outbox.js";
import type { TicketsDocument, TicketStatus } from "../generated/types/models.js";
import type {
  TicketsAskHandler,
  TicketsCreateHook,
  TicketsFollowHandler,
  TicketsUpdateHook,
} from "../generated/types/tickets.js";
import { notify } from "./notify.js";

export const isComplete = ({ status }: { readonly status: TicketStatus }): boolean =>
  status === "done";

/** What may be written with which permission, besides what whoever asks may write. */
const guarded: Readonly<Record<string, readonly string[]>> = {
  "tickets.update": ["priority", "linked", "following", "client"],
  "tickets.assign": ["assigned_to"],
  "tickets.transfer": ["team"],
  "tickets.lock": ["locked"],
};

export async function leaveToAgents(given: object, context: ExecutionContext): Promise<void> {
  for (const [permission, fields] of Object.entries(guarded)) {
    const written = fields.filter((field) => Object.hasOwn(given, field));
    if (written.length > 0 && !(await may(permission, context)))
      throw fail("core.authorization", { reason: `${permission} writes ${written.join(", ")}` });
  }
}

export const leaveChangesToAgents: TicketsUpdateHook["before"] = ({ patch }, context) =>
  leaveToAgents(patch, context);

export const tellOfTicket: TicketsCreateHook["tx_after"] = async (_input, context, output) => {
  const ticket = outputValue(output);
  await tellOfNew(ticket, context);
  await notify([ticket.assigned_to], "ticket_assigned", ticket, "Assigned to you", context);
};

export const tellOfChange: TicketsUpdateHook["tx_after"] = async ({ patch }, context, output) => {
  const { data } = outputValue(output);
  if (patch.assigned_to !== undefined)
    await notify([data.assigned_to], "ticket_assigned", data, "Assigned to you", context);
  if (patch.status === undefined) return;
  await stageEvent(context, "tickets.status_changed", { ...data, ticket: data.id });
  const readers = [data.created_by, data.assigned_to, ...data.following];
  await notify(readers, "ticket_status_changed", data, `Now ${data.status}`, context);
};

/** Tells webhooks and chats of a new ticket, however it has come. */
export async function tellOfNew(ticket: TicketsDocument, context: ExecutionContext): Promise<void> {
  await stageEvent(context, "tickets.created", { ...ticket, ticket: ticket.id });
}

/** Somebody without an account asks; a client is known by the address. */
export const ask: TicketsAskHandler = async (asked, context) => {
  const filters = { $values: { email: asked.email } };
  const client = await collection(clientsSpec, context).first({ filters });
  const tickets = collection(unscoped(ticketsSpec), context);
  const ticket = await tickets.create({ ...asked, client: client?.id ?? null });
  await tellOfNew(ticket, context);
  return { number: ticket.number };
};

export const follow: TicketsFollowHandler = async ({ id, follow }, context) => {
  const tickets = collection(ticketsSpec, context);
  const me = await collection(usersSpec, context).first({ own: true });
  if (me === null) throw fail("profile_required");
  const { rev, following } = await tickets.get(id, { lock: true });
  const others = following.filter((one) => one !== me.id);
  const next = follow ? [...others, me.id] : others;
  await collection(unscoped(ticketsSpec), context).update(id, rev, { following: next });
  return { following: next };
};
