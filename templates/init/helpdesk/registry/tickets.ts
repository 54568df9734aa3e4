import { createHmac, timingSafeEqual } from "node:crypto";
import { collection, csvText, fail as refuse, unscoped } from "opwright/runtime";
import { commentsSpec } from "../generated/documents/comments.js";
import { peopleSpec } from "../generated/documents/people.js";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { fail } from "../generated/errors.js";
import { may } from "../generated/identity.js";
import type { TicketsCloseJob, TicketsOverdueJob } from "../generated/jobs.js";
import { stageEvent } from "../generated/outbox.js";
import type { CommentsCreateHook } from "../generated/types/comments.js";
import type { Ticket } from "../generated/types/models.js";
import type { TicketsExportHandler, TicketsReceiveHandler } from "../generated/types/tickets.js";

const hours = { urgent: 4, normal: 48, low: 168 };

/** When a ticket has to be solved, unless whoever asks says otherwise. */
export const due = ({ priority }: Pick<Ticket, "priority">): string =>
  new Date(Date.now() + hours[priority] * 3_600_000).toISOString();

export const onlyAgentsWriteInternally: CommentsCreateHook["before"] = async (comment, context) => {
  if (comment.internal === true && !(await may("tickets.handle", context)))
    throw refuse("core.authorization", { reason: "only agents write internally" });
};

/** Whoever the ticket is assigned to hears that it is late; if nobody, whoever asked knows. */
export const overdue: TicketsOverdueJob = async ({ id }, context) => {
  const { assignee = null, number, subject } = await collection(unscoped(ticketsSpec), context).get(id);
  if (assignee === null) return;
  const people = collection(unscoped(peopleSpec), context);
  const [agent] = await people.find({ filters: { $values: { owner_id: assignee } }, size: 1 });
  if (agent === undefined) return;
  const mail = { number, subject, to: agent.mail };
  await context.commit(() => stageEvent(context, "tickets.overdue", mail));
};

/** A solved ticket is closed when nobody has objected for a week. */
export const close: TicketsCloseJob = async ({ id }, context) => {
  const all = collection(unscoped(ticketsSpec), context);
  await context.commit(() => all.update(id, "any", { status: "closed" }));
};

export const exportCsv: TicketsExportHandler = async (_input, context) =>
  csvText(
    ["number", "subject", "priority", "status", "due", "solution", "rating"],
    await collection(ticketsSpec, context).find({ sorts: { number: "asc" }, size: 10_000 }),
  );

/** A mail that the mail server passes on, signed with a secret that it shares with us. */
export const receive: TicketsReceiveHandler = async ({ company, body }, context) => {
  const secret = process.env["MAIL_SECRET"] ?? "";
  const is = createHmac("sha256", secret).update(body).digest();
  const said = Buffer.from(context.headers["x-signature"] ?? "", "hex");
  if (secret === "" || is.length !== said.length || !timingSafeEqual(is, said))
    throw fail("signature_wrong");
  const mail = JSON.parse(body.toString()) as { subject: string; text: string };
  const there = context.inTenant(company);
  const { id } = await collection(unscoped(ticketsSpec), there).create({ subject: mail.subject });
  await collection(unscoped(commentsSpec), there).create({ ticket: id, text: mail.text });
};
