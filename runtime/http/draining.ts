// The refusal of requests that come while the service drains.
import { fail, type ServiceError } from "../contract/errors.js";

/** 503 on a connection that ends: the next one may go to another instance. */
export function drainingError(): ServiceError {
  return fail("service_draining", {}, { headers: { "Retry-After": "5", Connection: "close" } });
}
