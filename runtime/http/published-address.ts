// Where clients reach a service, in the documents that it serves. What is committed names no
// address, so that it is the same on every machine (OpenAPI 3.1 "Server Object", AsyncAPI 3.0
// "Server Variable Object").

/** The only server of the OpenAPI document as it is printed. */
const printedServer = /"servers":\s*\[\s*\{\s*"url":\s*"\/"[^\]]*\]/;
/** The default of the variable `host` in the AsyncAPI document. */
const printedHost = /("serverVariables":\s*\{\s*"host":\s*\{\s*"default":\s*)"[^"]*"/;
/** The beginning of the path of one of its servers. */
const printedPath = /("host":\s*"\{host\}",\s*"pathname":\s*")(?=\/)/g;

/**
 * The OpenAPI document with the public URL as its first server. The second is for who reads it by
 * another name, such as a developer on the machine itself.
 */
export function withPublicServer(document: string, publicUrl: string): string {
  const servers = [
    { url: publicUrl, description: "This service" },
    { url: "/", description: "Where this document was read" },
  ];
  // Inside of texts, quotes are escaped, so the first that matches is the document's own member.
  return document.replace(printedServer, () => `"servers": ${JSON.stringify(servers)}`);
}

/** The AsyncAPI document with the host and the base path of the public URL. */
export function withPublicHost(document: string, publicUrl: string): string {
  const { host, pathname } = new URL(publicUrl);
  const base = JSON.stringify(pathname.replace(/\/+$/, "")).slice(1, -1);
  return document
    .replace(printedHost, (_whole, before: string) => `${before}${JSON.stringify(host)}`)
    .replace(printedPath, (_whole, before: string) => `${before}${base}`);
}
