import { type ContractFailure, isObject, type JsonObject } from "./wire.ts";

/** What the host hands to the app: what its tool answered, how the host looks, and its tools. */
export interface Host {
  /** Calls our one tool; throws `Refused` with the contract's error. */
  call(args: JsonObject): Promise<JsonObject>;
  /** Resolves with the answer of the tool call that the form belongs to. */
  opened: Promise<JsonObject>;
  openLink(url: string): void;
  /** Tells the model how the form stands: never what was filled in. */
  tellModel(text: string): void;
}

export class Refused extends Error {
  readonly failure: ContractFailure;
  constructor(failure: ContractFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

interface Waiting {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

const FORM_TOOL = "formbridge_form";
const PROTOCOL = "2026-01-26";

/** JSON-RPC over postMessage, as MCP Apps speak it. Only the window that holds us is listened to. */
export function connectHost(): Host {
  const waiting = new Map<number, Waiting>();
  const opening = Promise.withResolvers<JsonObject>();
  let ids = 0;
  let capabilities: JsonObject = {};
  const post = (message: JsonObject): void => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const request = (method: string, params: JsonObject): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      const id = ++ids;
      waiting.set(id, { resolve, reject });
      post({ id, method, params });
    });

  const notified: Record<string, (params: JsonObject) => void> = {
    "ui/notifications/tool-result": (params) => {
      try {
        opening.resolve(answerOf(params));
      } catch (error) {
        opening.reject(error);
      }
    },
    "ui/notifications/tool-cancelled": () => opening.reject(new Error("The call was cancelled.")),
    "ui/notifications/host-context-changed": dress,
  };

  window.addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || !isObject(data) || data.jsonrpc !== "2.0") return;
    const { id, method, params, result, error } = data;
    if (typeof method === "string") {
      if (id === undefined) notified[method]?.(isObject(params) ? params : {});
      // A ping, or the host's word that it closes the form: both want no more than an answer.
      else post({ id, result: {} });
      return;
    }
    const asked = waiting.get(Number(id));
    waiting.delete(Number(id));
    if (isObject(error)) asked?.reject(new Error(String(error.message)));
    else asked?.resolve(isObject(result) ? result : {});
  });

  const hello = request("ui/initialize", {
    appInfo: { name: "formbridge-form", version: "1" },
    appCapabilities: {},
    protocolVersion: PROTOCOL,
  });
  hello.then(
    ({ hostContext, hostCapabilities }) => {
      if (isObject(hostCapabilities)) capabilities = hostCapabilities;
      if (isObject(hostContext)) dress(hostContext);
      post({ method: "ui/notifications/initialized", params: {} });
      watchSize((size) => post({ method: "ui/notifications/size-changed", params: size }));
    },
    (error) => opening.reject(error),
  );

  return {
    opened: opening.promise,
    call: async (args) => answerOf(await request("tools/call", { name: FORM_TOOL, arguments: args })),
    openLink: (url) => void request("ui/open-link", { url }).catch(() => undefined),
    tellModel: (text) => {
      if (!isObject(capabilities.updateModelContext)) return;
      void request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => undefined);
    },
  };
}

function answerOf(result: JsonObject): JsonObject {
  const body = isObject(result.structuredContent) ? result.structuredContent : {};
  if (body.ok === true) return body;
  const failure = isObject(body.error) ? body.error : {};
  const message = typeof failure.message === "string" ? failure.message : "The server gave no answer.";
  throw new Refused({ ...failure, type: String(failure.type ?? "internal_error"), message } as ContractFailure);
}

/** The host's colours and fonts, where it has some; ours are in the stylesheet. */
function dress({ theme, styles }: JsonObject): void {
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const variables = isObject(styles) && isObject(styles.variables) ? styles.variables : {};
  for (const [name, value] of Object.entries(variables)) {
    if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
  }
}

function watchSize(tell: (size: { height: number }) => void): void {
  let last = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === last) return;
    last = height;
    tell({ height });
  }).observe(document.documentElement);
}
