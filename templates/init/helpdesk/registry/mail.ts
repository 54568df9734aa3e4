import { frameMail } from "opwright/runtime";
import type { RenderMail } from "../generated/outbox.js";

const page = process.env["WEB_URL"] ?? "http://localhost:5173";

export const render: RenderMail = (event) => {
  const written = wordsOf(event);
  if (written === null) return null;
  const { to, subject, text, link } = written;
  const action = link === undefined ? {} : { action: { label: subject, url: `${page}/${link}` } };
  return { to, subject, ...frameMail({ heading: subject, paragraphs: [text], ...action }) };
};

interface Words {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly link?: string;
}

function wordsOf({ name, data }: Parameters<RenderMail>[0]): Words | null {
  switch (name) {
    case "authn.sign_up_requested":
      if (data.token === null) return null;
      return { to: data.login, subject: "Confirm your address", text: "Welcome.", link: `join#${data.token}` };
    case "authn.password_reset_requested":
      return { to: data.login, subject: "Choose a new password", text: "You asked for it.", link: `reset#${data.token}` };
    case "tenancy.member_invited":
      return { to: data.login, subject: `Join ${data.tenant_key}`, text: "You are invited.", link: `invited#${data.token}` };
    case "tickets.overdue":
      return { to: data.to, subject: `${data.number} is overdue`, text: data.subject };
    case "bookings.soon":
      return { to: data.to, subject: `${data.room} tomorrow`, text: `From ${data.starts_at}.` };
    default:
      return null;
  }
}
