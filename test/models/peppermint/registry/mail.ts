// Mails: the templates of admins, and plain words where there are none.
import { collection, frameMail } from "opwright/runtime";
import { emailTemplatesSpec } from "../generated/documents/email_templates.js";
import type { RenderMail } from "../generated/outbox.js";

const escaped: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
const escape = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (char) => escaped[char] ?? char);

export const render: RenderMail = async (event, context) => {
  if (event.name === "authn.password_reset_requested") {
    const { login, token } = event.data;
    const url = `${context.publicUrl}/reset#${token}`;
    const heading = "Choose a new password";
    const words = { heading, paragraphs: ["You asked for it."], action: { label: heading, url } };
    return { to: login, subject: heading, ...frameMail(words) };
  }
  if (event.name !== "tickets.told") return null;
  const { to, kind, number, title, text } = event.data;
  const subject = `#${number} ${title}`;
  const filters = { $values: { type: kind } };
  const template = await collection(emailTemplatesSpec, context).first({ filters });
  if (template === null)
    return { to, subject, ...frameMail({ heading: title, paragraphs: [text] }) };
  const values: Readonly<Record<string, string>> = { number: String(number), title, text };
  const fill = (_all: string, name: string): string => escape(values[name] ?? "");
  return { to, subject, text, html: template.html.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, fill) };
};
