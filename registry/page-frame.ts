// The frame of the demo's pages: the style of the service's own pages, a script, and nothing inline.

export interface DemoPage {
  readonly title: string;
  /** HTML. */
  readonly body: string;
  /** The name of its script in registry/browser. */
  readonly script: string;
}

/** The HTML of a page. */
export function demoPage({ title, body, script }: DemoPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tracker API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">
<script type="module" src="/demo/registry/browser/${script}.js"></script>
</head>
<body>
<header class="top">
<a class="brand" href="/">Tracker API</a>
<nav aria-label="Pages">
<a href="/docs">Reference</a>
<a href="/docs/events">Events</a>
<a href="/demo/live">Live board</a>
<a href="/demo/upload">Upload</a>
</nav>
</header>
<main class="page stack wide" id="main">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

/** Fields for who signs in. */
export function signInFields(login: string): string {
  return `<label class="field"><span>Login</span><input id="login" autocomplete="username" value="${login}"></label>
<label class="field"><span>Password</span><input id="password" type="password" autocomplete="current-password" value="${demoPassword}"></label>`;
}

/** The password of everybody whom registry/demo/load.ts makes. */
export const demoPassword = "correct horse battery staple";
