// Where objects are, as a setting says it: a folder, or a bucket.
import type { ObjectsLocation } from "../ports/objects.js";
import { isPlainUrl, type Environment } from "./environment.js";

const location = /^(?:file:.+|s3:\/\/[a-z0-9][a-z0-9.-]{2,62}(?:\/?\?.*)?)$/;

/** The variables of a location begin with this. */
export type LocationName = "OBJECTS" | "BACKUP";

/** Why a URL can't be read; null if it can. */
export function locationFault(name: LocationName, url: string): string | null {
  if (location.test(url)) return null;
  return `${name}_URL must be file:<folder> or s3://<bucket>?endpoint=<URL>&region=<name>`;
}

/** Reads a location and its credentials. */
export function readLocation(
  environment: Environment,
  name: LocationName,
  otherwise: string,
): ObjectsLocation {
  const { faults } = environment;
  const url = environment.text(`${name}_URL`, otherwise);
  const fault = locationFault(name, url);
  if (fault !== null) faults.push(fault);
  else if (url.startsWith("s3:")) checkS3Options(name, new URL(url).searchParams, faults);
  const accessKeyId = environment.text(`${name}_ACCESS_KEY`, "");
  const secretAccessKey = environment.text(`${name}_SECRET_KEY`, "");
  if ((accessKeyId === "") !== (secretAccessKey === ""))
    faults.push(`${name}_ACCESS_KEY and ${name}_SECRET_KEY are given together`);
  return {
    url,
    credentials: accessKeyId === "" ? undefined : { accessKeyId, secretAccessKey },
  };
}

function checkS3Options(name: LocationName, options: URLSearchParams, faults: string[]): void {
  for (const option of options.keys())
    if (!["endpoint", "region", "unsigned-headers"].includes(option))
      faults.push(`${name}_URL has endpoint, region and unsigned-headers, and no ${option}`);
  const unsigned = options.get("unsigned-headers");
  if (unsigned !== null && unsigned !== "accept")
    faults.push(`unsigned-headers in ${name}_URL is accept, or left out`);
  const endpoint = options.get("endpoint");
  if (endpoint !== null && !isPlainUrl(endpoint))
    faults.push(`the endpoint in ${name}_URL must be a URL without credentials`);
}
