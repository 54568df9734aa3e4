// What texts of random registries are made of: by what the format asks for, with awkward names among them.

/** Names in [a-z][a-z0-9_]*: those of the runtime's exports and modules, of generated files, of words of the languages. */
export const names: readonly string[] = [
  ..."tasks notes places a a_b ab a1 x_ spec tasks_spec code_point".split(" "),
  ..."storage search documents direct listing query path json route operation params request nothing".split(
    " ",
  ),
  ..."scope authorize principal session tenant tenancy tenants identity authn".split(" "),
  ..."before wrap tx_before rate_limit own_rows agg_list agg_input storage_input identity_spec".split(
    " ",
  ),
  ..."service server index core error client realtime signals outbox validate validator".split(" "),
  ..."formats each edit upload token call mock page list events common body".split(" "),
  ..."class default constructor function new delete import await arguments undefined null string object".split(
    " ",
  ),
  ..."to_string has_own_property promise order group select user table".split(" "),
];

export const operationNames: readonly string[] =
  "go go_on spec get class default constructor routes b_c c input output handler body length call list_pages check".split(
    " ",
  );

export const typeNames: readonly string[] = [
  ..."Task Note Kind Tree Point T Tasks".split(" "),
  ..."String Object Array Record Readonly Promise Blob Date Error Map Function Number Boolean".split(
    " ",
  ),
  ..."Validator StageEvent RealtimeSpec OutboxEvents".split(" "),
  ..."DurableSignals EphemeralSignals Events Commands MockHandlers PasswordResetRequested".split(
    " ",
  ),
  ..."TasksCreate TasksFilter TasksGoInput TasksCode CommonCode BodyCode TasksDocument TasksGoOutput TasksGoHandler TasksGetCode ABCSignal".split(
    " ",
  ),
];

/** Types that some or all services have. */
export const takenTypeNames: readonly string[] =
  "Handler ErrorEnvelope MediaAnswer StoredObject TokenResponse SortOrder Blob".split(" ");

export const fieldNames: readonly string[] = [
  ..."title state count at ref place parts tags done rate".split(" "),
  ..."a_b A class default delete name length key input body query path after next_cursor rev_ _x validate0 validate1 data".split(
    " ",
  ),
];

/** A document's fields that no document may have, and names that no field may have. */
export const wrongFieldNames: readonly string[] = ["id", "rev", "constructor", "is-odd", ""];

export const texts: readonly string[] = [
  "A text.",
  `It's "quoted", \`\${x}\` and */ ended`,
  "Two\nlines, {{braces}} and \\n",
  "é 😀 \u2028 <b>&amp;</b>",
];

/** By `what` of a shape of the kind string. */
export const samples: Readonly<Record<string, readonly string[]>> = {
  "a text": texts,
  "a field": fieldNames,
  "an address such as https://example.com": ["https://example.com/a?b=c#d"],
  "an address of mail": ["api@example.com"],
  "an SPDX expression": ["Apache-2.0", "MIT OR (GPL-3.0-only WITH Classpath-exception-2.0)"],
  "the path of a probe, such as /health/live": ["/health/live", "/-/ready.txt", "/readyz"],
  "a name in [a-z][a-z0-9_]*": names,
  "a noun without an article": ["task", "SLA rule", "Überprüfung"],
  "a version such as 1.0.0": ["1.0.0", "0.1.0-rc.1+7"],
  "a duration such as 500ms, 5s, 1h or 7d": ["500ms", "5s", "30s", "1h", "7d"],
  "a duration, or 0s": ["0s", "10s"],
  "a size such as 512KiB or 64MiB: a whole number with B, KiB, MiB, GiB or TiB": [
    "1B",
    "512KiB",
    "64MiB",
    "5TiB",
  ],
  "a state": ["low", "mid", "high"],
  "a media type such as text/csv": ["text/csv", "application/jsonl", "text/plain; charset=utf-8"],
  "a content type such as image/*": ["image/*", "application/pdf", "text/x-a.b+c"],
  "a path without placeholders, such as /tasks": ["/blobs", "/x/y", ""],
  "the name of a query parameter": ["access_token", "token"],
  "a path such as /shop": ["/", "/shop", "/a/b"],
  "the name of a header": ["Authorization", "X-API-Key", "X", "session"],
  "a host such as {tenant}.example.com": ["{tenant}.example.com", "x-{tenant}-y.example.com"],
  "a member of `in`": fieldNames,
  "five fields such as 0 3 * * *: minute, hour, day, month, day of the week": [
    "0 3 * * *",
    "*/15 8-18 * * MON-FRI",
    "30 2 29 2 *",
  ],
  "a time zone such as Europe/Berlin": ["UTC", "Europe/Berlin", "America/Argentina/Salta"],
  "a permission such as admin or {resource}.admin": ["admin", "{resource}.admin", "tasks.admin"],
  "an action such as {resource}.read": ["{resource}.read", "platform.admin", "tasks.write"],
  "a permission such as tasks.read": ["tasks.read", "members.read", "admin"],
  "the name of a role": ["agent", "owner"],
  "a field of the profile": ["name"],
  "a rate such as 100/1m": ["100/1m", "1/1s"],
  "the name of a destination, or file#export": ["notifications", "default"],
};

/** The author's files by what they are imported as. */
export const authorFiles: readonly string[] = [
  "registry/handlers/tasks.ts",
  "registry/route.ts",
  "registry/on/success.ts",
  "registry/search-input.ts",
  "registry/identity-spec.ts",
  "registry/tasks-spec.ts",
  "registry/tasks/go.ts",
  "registry/a-b.mts",
  "lib/validate/tx-before.ts",
];

/** Exports of theirs. */
export const exportNames: readonly string[] = ["go", "run", "$go", "_x", "validate", "route"];

/** Verbs by family, as mounts, guards and hooks name them. */
export const verbs = {
  documents:
    "create get update kill delete restore upsert create_many update_many delete_many update_where delete_where list raw_list list_cursor raw_list_cursor agg_list".split(
      " ",
    ),
  reading: "get list raw_list list_cursor raw_list_cursor agg_list".split(" "),
  search: "typed raw typed_cursor raw_cursor".split(" "),
  joint: ["find"],
  storage: "upload list download head download_stream download_range delete".split(" "),
  presign: "presign_download presign_upload presign_post".split(" "),
  multipart: "begin_upload presign_part list_parts complete_upload abort_upload".split(" "),
  authn:
    "refresh_tokens logout list_sessions revoke_session password_login change_password request_password_reset reset_password deactivate_principal reactivate_principal erase_principal export_own export_principal sign_up resend_sign_up verify_sign_up me".split(
      " ",
    ),
  api_keys: "issue list revoke".split(" "),
  principals:
    "create_principal find_principals grant_permission list_permissions revoke_permission".split(
      " ",
    ),
  job_runs: "list get cancel retry".split(" "),
  audit: "list download".split(" "),
  webhooks: "create list delete test deliveries redeliver".split(" "),
  members:
    "list list_invitations invite revoke_invitation set_roles remove hand_over accept_invitation".split(
      " ",
    ),
  tenants: "list_tenants switch_tenant leave_tenant".split(" "),
  tenant_admin:
    "create_tenant list_tenants reactivate_tenant list_members deactivate_tenant invite_member remove_member".split(
      " ",
    ),
} as const;
