// The part of recheck that is one file and needs neither workers nor binaries. The package types
// only its other entry.
declare module "recheck/lib/browser.js" {
  const recheck: {
    checkSync(
      source: string,
      flags: string,
      parameters: { readonly timeout: number },
    ): { readonly status: string; readonly complexity?: { readonly type: string } };
  };
  export default recheck;
}
