// Chats that admins have set up hear of tickets.
import { collection, type Destination } from "opwright/runtime";
import { chatHooksSpec } from "../generated/documents/chat_hooks.js";

export const post: Destination = async ({ data }, context) => {
  const filters = { $values: { active: true } };
  for (const { kind, url } of await collection(chatHooksSpec, context).find({ filters })) {
    const { number, title, status } = data as Readonly<Record<string, unknown>>;
    const text = `#${String(number)} ${String(title)}: ${String(status)}`;
    const body = JSON.stringify(kind === "slack" ? { text } : { content: text });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body, signal: context.signal });
    if (!answer.ok) throw new Error(`${kind} answered ${answer.status}`);
  }
};
