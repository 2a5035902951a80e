import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A third-party web site on its own origin, with a strict policy. */
export interface OtherSite {
  url: string;
  /** The files it serves, by path. */
  files: Record<string, string>;
  stop(): Promise<void>;
}

const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css" };

/** The policy recommended in the documentation, plus Trusted Types. */
const policyFor = (formbridge: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${formbridge}`,
    `connect-src ${formbridge}`,
    "style-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

export async function startOtherSite(formbridge: string): Promise<OtherSite> {
  const files: Record<string, string> = {};
  const server = createServer(({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://site");
    const text = files[pathname];
    response.statusCode = text === undefined ? 404 : 200;
    response.setHeader("content-type", `${TYPES[pathname.split(".").at(-1) ?? ""] ?? "text/plain"}; charset=utf-8`);
    response.setHeader("content-security-policy", policyFor(formbridge));
    response.end(text ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
