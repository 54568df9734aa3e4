// Where objects are, as settings say it: a folder, or a bucket.
import type { ObjectsLocation } from "../ports/objects.js";
import { isPlainUrl, type Environment } from "./environment.js";

const location = /^(?:file:.+|s3:\/\/[a-z0-9][a-z0-9.-]{2,62}(?:\/?\?.*)?)$/;

/** The variables of a location. */
export interface LocationNames {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Why the URL of a variable can't be read; null if it can. */
export function locationFault(name: string, url: string): string | null {
  if (location.test(url)) return null;
  return `${name} must be file:<folder> or s3://<bucket>?endpoint=<URL>&region=<name>`;
}

/** Reads a location and its credentials. */
export function readLocation(
  environment: Environment,
  names: LocationNames,
  otherwise: string,
): ObjectsLocation {
  const { faults } = environment;
  const url = environment.text(names.url, otherwise);
  const fault = locationFault(names.url, url);
  if (fault !== null) faults.push(fault);
  else if (url.startsWith("s3:")) checkS3Options(names.url, new URL(url).searchParams, faults);
  const accessKeyId = environment.text(names.accessKey, "");
  const secretAccessKey = environment.text(names.secretKey, "");
  if ((accessKeyId === "") !== (secretAccessKey === ""))
    faults.push(`${names.accessKey} and ${names.secretKey} are given together`);
  return {
    url,
    credentials: accessKeyId === "" ? undefined : { accessKeyId, secretAccessKey },
  };
}

function checkS3Options(name: string, options: URLSearchParams, faults: string[]): void {
  for (const option of options.keys())
    if (!["endpoint", "region", "unsigned-headers"].includes(option))
      faults.push(`${name} has endpoint, region and unsigned-headers, and no ${option}`);
  const unsigned = options.get("unsigned-headers");
  if (unsigned !== null && unsigned !== "accept")
    faults.push(`unsigned-headers in ${name} is accept, or left out`);
  const endpoint = options.get("endpoint");
  if (endpoint !== null && !isPlainUrl(endpoint))
    faults.push(`the endpoint in ${name} must be a URL without credentials`);
}
