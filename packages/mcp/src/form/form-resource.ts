export const FORM_URI = "ui://formbridge/form";
const FORM_TYPE = "text/html;profile=mcp-app";

/** Says which UI shows a tool's result; the second name is the older one. */
export const FORM_META = { ui: { resourceUri: FORM_URI }, "ui/resourceUri": FORM_URI };

/** The upload origins are the only ones that the form contacts itself. */
const metaFor = (uploadOrigins: readonly string[]) => ({
  ui: { csp: { connectDomains: [...uploadOrigins], resourceDomains: [] }, prefersBorder: true },
});

export const formResource = (uploadOrigins: readonly string[]) => ({
  uri: FORM_URI,
  name: "form",
  title: "Form",
  description: "The form of a hand-off, for hosts that show apps.",
  mimeType: FORM_TYPE,
  _meta: metaFor(uploadOrigins),
});

export const readForm = (formPage: (uploadOrigins: readonly string[]) => string, uploadOrigins: readonly string[]) => ({
  mimeType: FORM_TYPE,
  text: formPage(uploadOrigins),
  _meta: metaFor(uploadOrigins),
});
