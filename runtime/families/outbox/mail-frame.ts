// The frame of a mail: the design of a service's pages, as far as mail programs follow it.
import type { Mail } from "./mail.js";

/** What a mail says. All of it is text: markup is escaped. */
export interface MailContent {
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** A link that stands out, by its HTTP or HTTPS URL. */
  readonly action?: { readonly label: string; readonly url: string };
  /** Below a line: why somebody has this mail, who sends it. */
  readonly footer?: string;
  /** What lists of mails show beside the subject; the first paragraph if left out. */
  readonly preview?: string;
  /** Of the words, by its tag such as `de`; English if left out. */
  readonly language?: string;
}

/** The colours of pages/design/style.css. Mail programs that know no dark scheme invert them. */
const colours = {
  ground: "#ffffff",
  raised: "#f6f7f9",
  line: "#cfd4dc",
  text: "#1a1f27",
  quiet: "#545d6a",
  accent: "#2748c9",
};
const font = "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";

/**
 * The bodies of a mail, as text and as HTML, with the same words. Throws a TypeError for a URL that
 * isn't HTTP or HTTPS.
 */
export function frameMail(content: MailContent): Required<Pick<Mail, "text" | "html">> {
  const { url } = content.action ?? {};
  if (url !== undefined && !isWebUrl(url))
    throw new TypeError("the action of a mail needs an HTTP or HTTPS URL");
  return { text: textOf(content), html: htmlOf(content) };
}

function isWebUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function textOf({ heading, paragraphs, action, footer }: MailContent): string {
  return [
    heading,
    ...paragraphs,
    ...(action === undefined ? [] : [`${action.label}: ${action.url}`]),
    ...(footer === undefined ? [] : [`-- \n${footer}`]),
  ].join("\n\n");
}

// Styles stand at their elements: many mail programs leave out style sheets.
function htmlOf({
  heading,
  paragraphs,
  action,
  footer,
  preview,
  language = "en",
}: MailContent): string {
  const before = preview ?? paragraphs[0] ?? heading;
  const body = paragraphs.map((text) => `<p style="margin:0 0 16px">${escapeMail(text)}</p>`);
  const button =
    action === undefined
      ? []
      : [
          `<p style="margin:24px 0"><a href="${escapeMail(new URL(action.url).href)}" style="background:${colours.accent};border-radius:8px;color:${colours.ground};display:inline-block;font-weight:600;padding:10px 16px;text-decoration:none">${escapeMail(action.label)}</a></p>`,
        ];
  const end =
    footer === undefined
      ? []
      : [
          `<p style="border-top:1px solid ${colours.line};color:${colours.quiet};font-size:14px;margin:24px 0 0;padding-top:16px">${escapeMail(footer)}</p>`,
        ];
  return `<!doctype html>
<html lang="${escapeMail(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeMail(heading)}</title>
</head>
<body style="background:${colours.raised};margin:0;padding:24px 12px">
<div style="display:none">${escapeMail(before)}</div>
<div role="main" style="background:${colours.ground};border:1px solid ${colours.line};border-radius:8px;color:${colours.text};font:16px/1.55 ${font};margin:0 auto;max-width:560px;overflow-wrap:anywhere;padding:24px">
<h1 style="font-size:22px;line-height:1.25;margin:0 0 16px">${escapeMail(heading)}</h1>
${[...body, ...button, ...end].join("\n")}
</div>
</body>
</html>
`;
}

/** Text as it stands in HTML, in content and in attributes; a line break is one. */
function escapeMail(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "<br>");
}
