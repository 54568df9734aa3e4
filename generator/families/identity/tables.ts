// The tables of identity: principals, sessions and tokens, API keys, tenants and what is granted.
import { addColumn, index, present, type SystemTables } from "../../print/system-steps.js";
import { types } from "../../print/ddl-parts.js";

/** Its steps, in the order in which they are made. */
export const tables: SystemTables = (engine) => ({
  ...ofSessions(engine),
  ...ofMails(engine),
  ...ofAccess(engine),
});

/** Who there is, and who is signed in. */
const ofSessions: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_principals: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"login" ${type.text} NOT NULL UNIQUE`,
        `"password_hash" ${type.text} NOT NULL`,
        `"is_active" ${type.flag} NOT NULL`,
      ],
    },
    opwright_subjects: {
      columns: [
        `"issuer" ${type.text} NOT NULL`,
        `"subject" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `PRIMARY KEY ("issuer", "subject")`,
      ],
    },
    opwright_sessions: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"actor_id" ${type.uuid}`,
        `"tenant_id" ${type.text}`,
        `"created_at" ${type.number} NOT NULL`,
        `"ended_at" ${type.number}`,
      ],
      indexes: ["principal_id"],
    },
    "opwright_sessions.ended_at": [
      index(
        "opwright_sessions_by_ended_at",
        "opwright_sessions",
        `"ended_at"`,
        present("ended_at"),
      ),
    ],
    "opwright_sessions.generation": [
      addColumn("opwright_sessions", `"generation" INTEGER NOT NULL DEFAULT 0`),
      addColumn("opwright_sessions", `"rotated_at" ${type.number}`),
    ],
    opwright_refresh_tokens: {
      columns: [
        `"digest" ${type.text} PRIMARY KEY`,
        `"session_id" ${type.uuid} NOT NULL`,
        `"expires_at" ${type.number} NOT NULL`,
        `"used_at" ${type.number}`,
      ],
      indexes: ["expires_at", "session_id"],
    },
    "opwright_refresh_tokens.session": [
      `DROP INDEX "opwright_refresh_tokens_by_session_id";`,
      index(
        "opwright_refresh_tokens_by_session",
        "opwright_refresh_tokens",
        `"session_id", "expires_at"`,
      ),
    ],
  };
};

/** Tokens that reach people by mail. */
const ofMails: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_reset_tokens: {
      columns: [
        `"principal_id" ${type.uuid} PRIMARY KEY`,
        `"digest" ${type.text} NOT NULL UNIQUE`,
        `"expires_at" ${type.number} NOT NULL`,
      ],
    },
    "opwright_reset_tokens.expires_at": [
      index("opwright_reset_tokens_by_expires_at", "opwright_reset_tokens", `"expires_at"`),
    ],
    opwright_sign_ups: {
      columns: [
        `"login" ${type.text} PRIMARY KEY`,
        `"password_hash" ${type.text} NOT NULL`,
        `"profile" ${type.text} NOT NULL`,
        `"digest" ${type.text} NOT NULL UNIQUE`,
        `"expires_at" ${type.number} NOT NULL`,
      ],
      indexes: ["expires_at"],
    },
  };
};

/** What callers may do, and where. */
const ofAccess: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_api_keys: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `"actor_id" ${type.uuid}`,
        `"tenant_id" ${type.text}`,
        `"digest" ${type.text} NOT NULL UNIQUE`,
        `"prefix" ${type.text} NOT NULL`,
        `"hint" ${type.text} NOT NULL`,
        `"label" ${type.text}`,
        `"created_at" ${type.number} NOT NULL`,
        `"expires_at" ${type.number}`,
        `"last_used_at" ${type.number}`,
        `"ended_at" ${type.number}`,
      ],
      indexes: ["principal_id"],
    },
    "opwright_api_keys.ends": [
      index(
        "opwright_api_keys_by_ended_at",
        "opwright_api_keys",
        `"ended_at"`,
        present("ended_at"),
      ),
      index(
        "opwright_api_keys_by_expires_at",
        "opwright_api_keys",
        `"expires_at"`,
        present("expires_at"),
      ),
    ],
    "opwright_api_keys.scopes": [addColumn("opwright_api_keys", `"scopes" ${type.text}`)],
    opwright_tenants: {
      columns: [
        `"id" ${type.text} PRIMARY KEY`,
        `"key" ${type.text} NOT NULL UNIQUE`,
        `"is_active" ${type.flag} NOT NULL`,
      ],
    },
    opwright_memberships: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid} NOT NULL`,
        `PRIMARY KEY ("tenant_id", "principal_id")`,
      ],
      indexes: ["principal_id"],
    },
    opwright_grants: {
      columns: [
        `"tenant_id" ${type.text} NOT NULL`,
        `"subject" ${type.text} NOT NULL`,
        `"permission" ${type.text} NOT NULL`,
        `PRIMARY KEY ("subject", "tenant_id", "permission")`,
      ],
    },
  };
};
