// /console/mail: the frame that a mail is shown in. It is a document of its own in a sandbox: a
// mail has its styles inline, which the policy of the console forbids.

addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
  if (source !== parent || typeof data !== "string") return;
  // Scripts that come this way don't run, and the frame's policy forbids handlers in attributes.
  document.documentElement.innerHTML = data;
  const base = document.createElement("base");
  base.target = "_blank";
  document.head.prepend(base);
});
