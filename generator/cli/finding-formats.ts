// The formats of findings.

export const findingFormats = ["pretty", "json", "github", "sarif"] as const;
export type FindingFormat = (typeof findingFormats)[number];
