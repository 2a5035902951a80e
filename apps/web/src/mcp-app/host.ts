/** A JSON object that came from outside. */
export type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The embedding window: it made the tool call that shows this form, and makes the form's own calls. */
export interface Host {
  /** Calls our one tool. Resolves with its result, which may be the contract's error; rejects if there is none. */
  call(args: JsonObject): Promise<JsonObject>;
  /** The result of the tool call that shows this form. */
  opened: Promise<JsonObject>;
  /** The host's language, if it says which. */
  locale: Promise<string>;
  openLink(url: string): void;
  /** Reports the form's status to the model: never what was filled in. */
  tellModel(text: string): void;
}

interface Waiting {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

const FORM_TOOL = "formbridge_form";
const PROTOCOL = "2026-01-26";

/** JSON-RPC over postMessage, as in MCP Apps. Only messages of the embedding window are accepted. */
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
    "ui/notifications/tool-result": (params) => opening.resolve(answerOf(params)),
    "ui/notifications/tool-cancelled": () => opening.reject(new Error("The call was cancelled.")),
    "ui/notifications/host-context-changed": dress,
  };

  window.addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || !isObject(data) || data.jsonrpc !== "2.0") return;
    const { id, method, params, result, error } = data;
    if (typeof method === "string") {
      if (id === undefined) notified[method]?.(isObject(params) ? params : {});
      // A ping, or a notice that the host closes the form: both only need a response.
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
    locale: hello.then(
      ({ hostContext }) => (isObject(hostContext) && typeof hostContext.locale === "string" ? hostContext.locale : ""),
      () => "",
    ),
    call: async (args) => answerOf(await request("tools/call", { name: FORM_TOOL, arguments: args })),
    openLink: (url) => void request("ui/open-link", { url }).catch(() => undefined),
    tellModel: (text) => {
      if (!isObject(capabilities.updateModelContext)) return;
      void request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => undefined);
    },
  };
}

const NO_ANSWER = { type: "internal_error", message: "The server did not respond.", retryable: false };

function answerOf({ structuredContent }: JsonObject): JsonObject {
  const body = isObject(structuredContent) ? structuredContent : {};
  return body.ok === true || isObject(body.error) ? body : { ok: false, error: NO_ANSWER };
}

/** The names that hosts use, and ours. */
const PROPERTIES: Record<string, string> = {
  "--color-text-primary": "--fb-text",
  "--color-text-secondary": "--fb-muted",
  "--color-text-danger": "--fb-error",
  "--color-background-primary": "--fb-surface",
  "--color-background-secondary": "--fb-sunken",
  "--color-border-primary": "--fb-line",
  "--border-radius-md": "--fb-radius",
  "--font-sans": "--fb-font",
};

/** The host's colours and fonts, where it has some; ours are in the stylesheet. */
function dress({ theme, styles }: JsonObject): void {
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") {
    root.dataset.theme = theme;
    root.style.colorScheme = theme;
  }
  const variables = isObject(styles) && isObject(styles.variables) ? styles.variables : {};
  for (const [theirs, ours] of Object.entries(PROPERTIES)) {
    const value = variables[theirs];
    if (typeof value === "string") root.style.setProperty(ours, value);
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
