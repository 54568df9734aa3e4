// Notifications: one for each who wants them, in the app and by mail.
import { collection, unscoped, type ExecutionContext } from "opwright/runtime";
import { notificationsSpec } from "../generated/documents/notifications.js";
import { usersSpec } from "../generated/documents/users.js";
import { stageEvent } from "../generated/outbox.js";
import type { TemplateType } from "../generated/types/models.js";

interface Ticket {
  readonly id: string;
  readonly number: number;
  readonly title: string;
}

/** What of people's wishes decides about a kind of news. */
const wishes = {
  ticket_created: "notify_ticket_created",
  ticket_status_changed: "notify_ticket_status_changed",
  ticket_assigned: "notify_ticket_assigned",
  ticket_comment: "notify_ticket_comments",
} as const;

/** Tells these users (by their profiles) news of a ticket; whoever causes them knows. */
export async function notify(
  users: readonly (string | null | undefined)[],
  kind: TemplateType,
  { id, number, title }: Ticket,
  text: string,
  context: ExecutionContext,
): Promise<void> {
  const ids = [...new Set(users.filter((id) => typeof id === "string"))];
  if (ids.length === 0) return;
  const people = collection(unscoped(usersSpec), context);
  for (const user of await people.find({ filters: { $values: { id: ids } } })) {
    if (!user[wishes[kind]] || user.principal === context.identity?.principalId) continue;
    const notification = { recipient: user.principal, ticket: id, text };
    await collection(unscoped(notificationsSpec), context).create(notification);
    await stageEvent(context, "tickets.told", { to: user.email, kind, number, title, text });
  }
}
