import { formPage } from "./form-page.ts";

export const FORM_URI = "ui://formbridge/form";
const FORM_TYPE = "text/html;profile=mcp-app";

/** How hosts know what a tool's answer is shown with; the second name is an older one. */
export const FORM_META = { ui: { resourceUri: FORM_URI }, "ui/resourceUri": FORM_URI };

/** The origins are where files are sent to, and the only ones that the form reaches by itself. */
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

export const readForm = (uploadOrigins: readonly string[]) => ({
  mimeType: FORM_TYPE,
  text: formPage(uploadOrigins),
  _meta: metaFor(uploadOrigins),
});
