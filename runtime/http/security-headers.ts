// Headers by which every answer tells a browser that it is data, never a page (OWASP REST Security
// Cheat Sheet "Security Headers").

/** Names and values. No answer carries a CORS header, so scripts of other origins read nothing. */
export const securityHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** The same as names and values in turn, as `writeHead` takes them. */
export const securityHeaderList: readonly string[] = Object.entries(securityHeaders).flat();
