// What the server tells a page (runtime/http/docs/page.ts).

export interface PageConfig {
  readonly title: string;
  /** The path of this page, and the names of all by their paths. */
  readonly path: string;
  readonly pages: Readonly<Record<string, string>>;
  /** The path below which the page has its files. */
  readonly files: string;
  /** How requests say who sends them. */
  readonly tokenHeader: string;
  readonly tokenScheme: string;
  /** The paths and transports of realtime; null if the service has none. */
  readonly realtime: { readonly path: string; readonly transports: readonly string[] } | null;
}

export const config: PageConfig = JSON.parse(
  document.getElementById("config")?.textContent ?? "{}",
);
