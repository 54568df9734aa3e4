// The mails that the process has made in development, as their readers would see them.
import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { Code } from "../../parts/code.js";
import { Empty } from "../../parts/empty.js";
import { errorOf, Fault } from "../../parts/fault.js";
import { Tabs } from "../../parts/tabs.js";
import type { Api } from "../api.js";
import { Value } from "../value.js";
import { usePolled } from "./use-polled.js";

const everyMillis = 2_000;

interface Mail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  readonly reply_to?: string;
  readonly event: { readonly id: string; readonly name: string; readonly created_at: string };
}

export function ServiceMails({ api }: { readonly api: Api }): JSX.Element {
  const [mails, setMails] = useState<readonly Mail[] | null>(null);
  const [chosen, choose] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  usePolled(async () => {
    try {
      setMails((await api.call<{ readonly mails: readonly Mail[] }>("console.mails")).mails);
      setError(null);
    } catch (fault) {
      setError(errorOf(fault));
    }
  }, everyMillis);
  const shown = mails?.find(({ event }) => event.id === chosen) ?? mails?.[0];
  return (
    <div class="stack wide">
      <h1>Mails</h1>
      <p class="small quiet">
        The last mails of events whose destination has no server. None was sent.
      </p>
      {error !== null && <Fault error={error} />}
      {mails?.length === 0 && (
        <Empty title="No mails yet">They appear here as events are delivered.</Empty>
      )}
      {mails !== null && shown !== undefined && (
        <div class="split">
          <Shown key={shown.event.id} mail={shown} />
          <ul class="members aside" aria-label="Mails, the newest first">
            {mails.map((mail) => (
              <li key={mail.event.id} class="stack tight">
                <button
                  type="button"
                  aria-pressed={mail === shown}
                  onClick={() => choose(mail.event.id)}
                >
                  {mail.subject}
                </button>
                <span class="small quiet">
                  {`to ${mail.to.join(", ")} · `}
                  <Value value={mail.event.created_at} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Shown({ mail }: { readonly mail: Mail }): JSX.Element {
  const { to, subject, text, html, reply_to: replyTo, event } = mail;
  return (
    <article class="stack" aria-labelledby="subject">
      <h2 id="subject">{subject}</h2>
      <p class="small quiet">
        {`To ${to.join(", ")}${replyTo === undefined ? "" : `, replies to ${replyTo}`}, of the event `}
        <code>{event.name}</code>
      </p>
      <Tabs
        label="The mail"
        tabs={[
          ...(html === undefined
            ? []
            : [
                { name: "html", label: "As it looks", panel: () => <Framed html={html} /> },
                {
                  name: "source",
                  label: "HTML",
                  panel: () => <Code label="The HTML of the mail" text={html} />,
                },
              ]),
          ...(text === undefined
            ? []
            : [
                {
                  name: "text",
                  label: "Text",
                  panel: () => <Code label="The text of the mail" text={text} />,
                },
              ]),
        ]}
      />
    </article>
  );
}

/** HTML in a sandbox, where its links open windows of their own. */
function Framed({ html }: { readonly html: string }): JSX.Element {
  return (
    <iframe
      class="mail"
      title="The mail as it looks"
      src="/console/mail"
      sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"
      onLoad={({ currentTarget }) => currentTarget.contentWindow?.postMessage(html, "*")}
    />
  );
}
