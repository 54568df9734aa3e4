// In which forms a report of changes is shown.

export const diffFormats = ["pretty", "json", "markdown", "github"] as const;
export type DiffFormat = (typeof diffFormats)[number];
