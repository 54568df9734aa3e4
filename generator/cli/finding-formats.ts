// In which forms findings are shown.

export const findingFormats = ["pretty", "json", "github", "sarif"] as const;
export type FindingFormat = (typeof findingFormats)[number];
