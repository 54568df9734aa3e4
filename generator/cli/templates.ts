// What a project of `opwright init` may start from; the files are in templates/init/.

export const templates = ["minimal", "conduit", "helpdesk", "tracker"] as const;
export type Template = (typeof templates)[number];

/** The description of each template for the person who chooses. */
export const hints: Readonly<Record<Template, string>> = {
  minimal: "one document, one handler",
  conduit: "RealWorld's backend: accounts, articles, comments",
  helpdesk: "companies with agents and customers: tickets, comments, bookings",
  tracker: "the reference service",
};
