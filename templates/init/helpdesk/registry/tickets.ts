import { createHmac, timingSafeEqual } from "node:crypto";
import {
  collection,
  fail as refuse,
  unscoped,
  type ExecutionContext,
} from "opwright/runtime";
import { commentsSpec } from "../generated/documents/comments.js";
import { mailsSpec } from "../generated/documents/mails.js";
import { peopleSpec } from "../generated/documents/people.js";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { fail } from "../generated/errors.js";
import { may } from "../generated/identity.js";
import type { TicketsCloseJob, TicketsOverdueJob } from "../generated/jobs.js";
import { stageEvent } from "../generated/outbox.js";
import type {
  TicketsCreateHook,
  TicketsExportHandler,
  TicketsReceiveHandler,
  TicketsUpdateHook,
} from "../generated/types/tickets.js";

/** Refuses fields that customers leave to agents, whichever operation writes them. */
async function leaveToAgents(
  fields: readonly string[],
  given: object,
  context: ExecutionContext,
): Promise<void> {
  const planned = fields.filter((field) => Object.hasOwn(given, field));
  if (planned.length > 0 && !(await may("tickets.handle", context)))
    throw refuse("core.authorization", { reason: `only agents write ${planned.join(", ")}` });
}

export const onlyAgentsPlan: TicketsCreateHook["before"] = (ticket, context) =>
  leaveToAgents(["status", "assignee", "due", "solution", "rating"], ticket, context);

export const onlyAgentsChange: TicketsUpdateHook["before"] = ({ patch }, context) =>
  leaveToAgents(["priority", "assignee", "due", "solution"], patch, context);

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

export const exportCsv: TicketsExportHandler = (_input, context) =>
  collection(ticketsSpec, context).find({ sorts: { number: "asc" }, size: 10_000 });

/** A mail that the mail server passes on: it signs the company and the bytes with our secret. */
export const receive: TicketsReceiveHandler = async ({ company, body }, context) => {
  const secret = process.env["MAIL_SECRET"] ?? "";
  const is = createHmac("sha256", secret).update(`${company}.`).update(body).digest();
  const said = Buffer.from(context.headers["x-signature"] ?? "", "hex");
  if (secret === "" || is.length !== said.length || !timingSafeEqual(is, said))
    throw fail("signature_wrong");
  const { message, subject, text } = mailOf(body);
  const there = context.inTenant(company);
  const mails = collection(mailsSpec, there);
  if (await mails.exists({ filters: { $values: { message } } })) return;
  await mails.create({ message });
  const { id } = await collection(unscoped(ticketsSpec), there).create({ subject });
  await collection(unscoped(commentsSpec), there).create({ ticket: id, text });
};

/** A mail as tickets take it. */
function mailOf(body: Buffer) {
  let mail: unknown;
  try {
    mail = JSON.parse(body.toString());
  } catch {
    throw refuse("core.malformed");
  }
  const { id, subject, text } = (mail ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== "string" || id === "") throw refuse("core.malformed");
  const shown = (value: unknown, most: number): string => String(value ?? "").trim().slice(0, most);
  return {
    message: id,
    subject: shown(subject, 200) || "(no subject)",
    text: shown(text, 10_000) || "(no text)",
  };
}
