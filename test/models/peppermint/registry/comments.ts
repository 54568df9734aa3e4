// Comments: a locked ticket takes none, and who has to do with a ticket hears of them.
import { collection, outputValue } from "opwright/runtime";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { fail } from "../generated/errors.js";
import { may } from "../generated/identity.js";
import type { CommentsCreateHook } from "../generated/types/comments.js";
import { notify } from "./notify.js";

/** The reference alone would let agents comment on what is locked. */
export const ticketIsOpen: CommentsCreateHook["tx_before"] = async ({ ticket }, context) => {
  const known = await collection(ticketsSpec, context).first({
    filters: { $values: { id: ticket } },
  });
  if (known?.locked === true && !(await may("tickets.lock", context))) throw fail("ticket_locked");
};

export const tellOfComment: CommentsCreateHook["tx_after"] = async (_input, context, output) => {
  const comment = outputValue(output);
  const ticket = await collection(ticketsSpec, context).get(comment.ticket);
  const agents = [ticket.assigned_to, ...ticket.following];
  const readers = comment.public ? [ticket.created_by, ...agents] : agents;
  await notify(readers, "ticket_comment", ticket, comment.text.slice(0, 200), context);
};
