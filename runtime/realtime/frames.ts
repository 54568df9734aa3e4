// Frames that clients send, read strictly: nothing is coerced (service.md "Duplex commands").
import { fail, ServiceError } from "../contract/errors.js";

export interface CommandFrame {
  readonly type: "cmd";
  readonly event: string;
  readonly cid: unknown;
  readonly payload: unknown;
  readonly idempotencyKey: string | undefined;
  readonly deadlineSeconds: number | undefined;
}

export type IngressFrame =
  | CommandFrame
  | { readonly type: "ack"; readonly upTo: string }
  | { readonly type: "reauth"; readonly cid: unknown; readonly token: string }
  /** `cid` is there where the frame is a faulty command, which is acknowledged with its error. */
  | { readonly type: "invalid"; readonly cid: unknown; readonly error: ServiceError };

const maxCidLength = 1_024;

/** Reads one text frame; never throws. */
export function readFrame(data: Buffer): IngressFrame {
  let frame: unknown;
  try {
    frame = JSON.parse(data.toString("utf8"));
  } catch {
    return invalid("no JSON");
  }
  if (typeof frame !== "object" || frame === null || Array.isArray(frame))
    return invalid("no object");
  const { type, ...members } = frame as Readonly<Record<string, unknown>>;
  switch (type) {
    case "realtime.ack": {
      const { up_to: upTo } = members;
      return typeof upTo === "string" && upTo !== ""
        ? { type: "ack", upTo }
        : invalid("up_to must be a text that is not empty");
    }
    case "realtime.reauth":
      return readReauth(members);
    case "cmd":
      return readCommand(members);
    default:
      return invalid("unknown type");
  }
}

function readReauth(members: Readonly<Record<string, unknown>>): IngressFrame {
  const { auth, cid } = members;
  const token =
    typeof auth === "object" && auth !== null && "token" in auth ? auth.token : undefined;
  if (!isCid(cid)) return invalid("cid");
  return typeof token === "string" && token !== ""
    ? { type: "reauth", cid, token }
    : invalid("auth.token must be a text", cid ?? null);
}

function readCommand(members: Readonly<Record<string, unknown>>): IngressFrame {
  const { event, cid, payload, idempotency_key: key, deadline_budget: budget } = members;
  if (!isCid(cid)) return invalid("cid");
  const told = cid ?? null;
  if (typeof event !== "string") return invalid("event must be a text", told);
  const isKey = key === undefined || (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key));
  if (!isKey) return invalid("idempotency_key must be 1 to 255 visible ASCII characters", told);
  const isBudget =
    budget === undefined || (typeof budget === "number" && Number.isFinite(budget) && budget > 0);
  if (!isBudget) return invalid("deadline_budget must be a positive number of seconds", told);
  return {
    type: "cmd",
    event,
    cid: told,
    payload,
    idempotencyKey: key,
    deadlineSeconds: budget,
  };
}

/** What comes back verbatim has a bound, and is a text or a number. */
function isCid(cid: unknown): boolean {
  if (cid === undefined || cid === null) return true;
  return typeof cid === "number" || (typeof cid === "string" && cid.length <= maxCidLength);
}

function invalid(reason: string, cid?: unknown): IngressFrame {
  return { type: "invalid", cid, error: fail("realtime_invalid_frame", { reason }) };
}
