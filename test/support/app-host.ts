import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { CallToolResult, Client, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { AppBridge } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { Browser, FrameLocator, Page } from "playwright-core";
import { openPage } from "./browser.ts";

/** A host that shows apps: a page with the app in a sandboxed frame, and the official bridge behind it. */
export interface AppHost {
  page: Page;
  app: FrameLocator;
  bridge: AppBridge;
  /** What the app sent to the model, in order. */
  told: string[];
  /** What the app or the page tried to load from elsewhere. */
  refused: string[];
  /** Script errors and policy violations reported by the browser. */
  complaints: string[];
  close(): Promise<void>;
}

interface Shown {
  html: string;
  /** The frame's policy, as hosts derive it from the resource's metadata. */
  connect: readonly string[];
  /** The call that the app belongs to. */
  call: { arguments: Record<string, unknown>; result: CallToolResult };
}

const HOST_PAGE = `<!doctype html><html lang="en"><title>Host</title><style>body{margin:0}iframe{border:0;width:100%;height:100vh}</style>
<iframe title="App" sandbox="allow-scripts" src="/app"></iframe>
<script>
  const frame = document.querySelector("iframe");
  addEventListener("message", ({ source, data }) => { if (source === frame.contentWindow) fromApp(data); });
  globalThis.toApp = (message) => frame.contentWindow.postMessage(message, "*");
</script>`;

/** Serves the host's page and the app as a real host would: the app without an origin of its own. */
async function serveHost({ html, connect }: Shown): Promise<{ url: string; server: Server }> {
  const policy = [
    "default-src 'none'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    `connect-src ${connect.length === 0 ? "'none'" : connect.join(" ")}`,
  ].join("; ");
  const server = createServer(({ url }, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    if (url === "/app") response.setHeader("content-security-policy", policy);
    response.end(url === "/app" ? html : HOST_PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

/** Passes the bridge's messages into the browser and back. */
async function transportInto(page: Page): Promise<Transport> {
  const transport: Transport = {
    start: async () => {},
    send: (message) =>
      page.evaluate((given) => (globalThis as unknown as { toApp(message: unknown): void }).toApp(given), message),
    close: async () => transport.onclose?.(),
  };
  await page.exposeFunction("fromApp", (message: JSONRPCMessage) => transport.onmessage?.(message));
  return transport;
}

export async function showApp(browser: Browser, client: Client, shown: Shown): Promise<AppHost> {
  const { page, refused } = await openPage(browser);
  const { url, server } = await serveHost(shown);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  const told: string[] = [];
  const capabilities = { serverTools: {}, updateModelContext: { text: {} }, openLinks: {} };
  const bridge = new AppBridge(client, { name: "test-host", version: "1" }, capabilities, {
    hostContext: { theme: "light" },
  });
  bridge.onupdatemodelcontext = async ({ content }) => {
    for (const block of content ?? []) if (block.type === "text") told.push(block.text);
    return {};
  };
  bridge.addEventListener("initialized", () => {
    void bridge.sendToolInput({ arguments: shown.call.arguments });
    void bridge.sendToolResult(shown.call.result);
  });
  await bridge.connect(await transportInto(page));
  await page.goto(url);
  return {
    page,
    app: page.frameLocator("iframe"),
    bridge,
    told,
    refused,
    complaints,
    async close() {
      await bridge.close();
      await page.context().close();
      await new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
    },
  };
}
