// What a project of `opwright init` may start from; the files are in templates/init/.

export const templates = ["minimal", "conduit", "tracker"] as const;
export type Template = (typeof templates)[number];

/** What a person who is asked reads of each. */
export const hints: Readonly<Record<Template, string>> = {
  minimal: "one document, one handler",
  conduit: "RealWorld's backend: accounts, articles, comments",
  tracker: "the reference service",
};
