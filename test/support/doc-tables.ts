/**
 * Tables of the documentation that are generated from the code (`<!-- table: name -->`), and the names that
 * hand-written ones must have in their first column (`<!-- checked: name -->`).
 */
import { createProgram } from "../../apps/server/src/cli/program.ts";
import { SETTINGS, type Setting } from "../../apps/server/src/config/settings.ts";
import {
  ERROR_REASONS,
  ERROR_TYPES,
  ErrorBodySchema,
  FIELD_ERROR_CODES,
  NEXT_ACTIONS,
} from "../../packages/contract/src/errors.ts";
import { EVENT_PAYLOADS } from "../../packages/contract/src/event-payloads.ts";
import { EVENT_TYPES } from "../../packages/contract/src/events.ts";
import { TRANSITIONS } from "../../packages/core/src/domain/transitions.ts";
import { STATUS } from "../../packages/http/src/error-map.ts";
import { REQUEST_HEADERS, RESPONSE_HEADERS } from "../../packages/http/src/openapi-headers.ts";
import { ROUTES } from "../../packages/http/src/routes.ts";
import { TOOLS_MODES } from "../../packages/mcp/src/catalog.ts";
import { FORM_URI } from "../../packages/mcp/src/form/form-resource.ts";
import { UI_EXTENSION } from "../../packages/mcp/src/form/form-tool.ts";
import { TASKS_EXTENSION } from "../../packages/mcp/src/human/tasks.ts";
import { PROMPTS } from "../../packages/mcp/src/prompts.ts";
import { RESOURCE_TEMPLATES } from "../../packages/mcp/src/resources.ts";
import { ADDED } from "../../packages/mcp/src/tools/output-schema.ts";
import { TOOLS } from "../../packages/mcp/src/tools/table.ts";
import {
  BUSINESS_METRICS,
  IDEMPOTENCY_METRICS,
  type MetricSpec,
  SERVICE_METRICS,
  STORE_METRICS,
  TOKEN_METRICS,
} from "../../packages/telemetry/src/metrics/catalog.ts";

export const code = (text: string): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "\\<");
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

function commandRows(command: Awaited<ReturnType<typeof createProgram>>, above: string[] = []): string[][] {
  return command.commands.flatMap((child) => {
    const names = [...above, child.name()];
    if (child.commands.length > 0) return commandRows(child, names);
    const takes = child.registeredArguments.map((argument) =>
      argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
    );
    return [[code([...names, ...takes].join(" ")), cell(child.description())]];
  });
}

/** The fields of a payload: what each is, if that isn't obvious, and which are optional. */
function payloadFields({
  properties,
  required = [],
}: {
  properties: object;
  required?: readonly string[] | undefined;
}): string {
  const fields = Object.entries(properties).map(([name, { description }]: [string, { description?: string }]) => {
    const optional = required.includes(name) ? "" : "?";
    return `${code(name + optional)}${description === undefined ? "" : ` (${cell(description)})`}`;
  });
  return fields.length === 0 ? "nothing" : fields.join(", ");
}

const memberRows = (properties: object, prefix = ""): string[][] =>
  Object.entries(properties).flatMap(([name, { description }]: [string, { description?: string }]) =>
    description === undefined ? [] : [[code(prefix + name), cell(description)]],
  );

const metricTable = (metrics: Record<string, MetricSpec>): { page: string; text: string } => ({
  page: "docs/reference/metrics.md",
  text: table(
    ["metric", "kind", "labels", "what it says", "buckets", "in the design"],
    Object.entries(metrics).map(([name, { kind, labels = [], help, buckets = [], seed }]) => [
      code(name),
      kind,
      labels.map(code).join(", "),
      cell(help),
      buckets.join(" "),
      seed === undefined ? "" : code(seed),
    ]),
  ),
});

/** Every generated table, with the page that shows it. */
export const TABLES: Record<string, { page: string; text: string }> = {
  settings: {
    page: "docs/reference/settings.md",
    text: table(
      ["variable", "default", "what it is"],
      Object.entries(SETTINGS as Record<string, Setting>).map(([name, { alias, fallback, help }]) => [
        [name, alias]
          .filter((known) => known !== undefined)
          .map(code)
          .join(", "),
        fallback === undefined ? "" : code(String(fallback)),
        cell(help),
      ]),
    ),
  },
  "metrics-tokens": metricTable(TOKEN_METRICS),
  "metrics-store": metricTable(STORE_METRICS),
  "metrics-business": metricTable(BUSINESS_METRICS),
  "metrics-idempotency": metricTable(IDEMPOTENCY_METRICS),
  "metrics-service": metricTable(SERVICE_METRICS),
  errors: {
    page: "docs/reference/errors.md",
    text: table(
      ["type", "status", "retryable", "means"],
      Object.entries(ERROR_TYPES).map(([type, { retryable, meaning }]) => [
        code(type),
        String(STATUS[type as keyof typeof STATUS]),
        retryable ? "yes" : "no",
        cell(meaning),
      ]),
    ),
  },
  events: {
    page: "docs/reference/events.md",
    text: table(
      ["type", "stream", "written when"],
      Object.entries(EVENT_TYPES).map(([type, { stream, when }]) => [code(type), stream, cell(when)]),
    ),
  },
  payloads: {
    page: "docs/reference/events.md",
    text: table(
      ["type", "payload"],
      Object.entries(EVENT_PAYLOADS).map(([type, schema]) => [code(type), payloadFields(schema)]),
    ),
  },
  routes: {
    page: "docs/reference/http.md",
    text: table(
      ["method", "path", "operation", "opens with", "does"],
      ROUTES.map(({ method, path, id, opensWith, summary }) => [
        method,
        code(path.replace(/:([A-Za-z]+)/g, "{$1}")),
        code(id),
        opensWith,
        cell(summary),
      ]),
    ),
  },
  states: {
    page: "docs/concepts/states.md",
    text: table(
      ["from", "to"],
      Object.entries(TRANSITIONS).map(([from, to]) => [
        code(from),
        to.length === 0 ? "final" : to.map(code).join(", "),
      ]),
    ),
  },
  tools: {
    page: "docs/reference/mcp.md",
    text: table(
      ["of an intake", "generic", "reads only", "destroys", "repeatable", "reaches out", "does"],
      TOOLS.map(({ suffix, generic, title, annotations }) => [
        suffix === undefined ? "" : code(`_${suffix}`),
        code(generic),
        ...[
          annotations.readOnlyHint,
          annotations.destructiveHint,
          annotations.idempotentHint,
          annotations.openWorldHint,
        ].map((holds) => (holds ? "yes" : "")),
        title,
      ]),
    ),
  },
  members: {
    page: "docs/reference/errors.md",
    text: table(
      ["member", "is"],
      [...memberRows(ErrorBodySchema.properties), ...memberRows(ErrorBodySchema.properties.error.properties, "error.")],
    ),
  },
  reasons: {
    page: "docs/reference/errors.md",
    text: table(
      ["reason", "of", "means"],
      Object.entries(ERROR_REASONS).map(([reason, { of, means }]) => [code(reason), code(of), cell(means)]),
    ),
  },
  codes: {
    page: "docs/reference/errors.md",
    text: table(
      ["code", "from"],
      Object.entries(FIELD_ERROR_CODES).map(([name, from]) => [code(name), cell(from)]),
    ),
  },
  actions: {
    page: "docs/reference/errors.md",
    text: table(
      ["action", "means"],
      Object.entries(NEXT_ACTIONS).map(([action, means]) => [code(action), cell(means)]),
    ),
  },
  "request-headers": {
    page: "docs/reference/http.md",
    text: table(
      ["header", "for"],
      Object.entries(REQUEST_HEADERS).map(([name, { about }]) => [code(name), cell(about)]),
    ),
  },
  "response-headers": {
    page: "docs/reference/http.md",
    text: table(
      ["header", "says"],
      Object.entries(RESPONSE_HEADERS).map(([name, says]) => [code(name), cell(says)]),
    ),
  },
  resources: {
    page: "docs/reference/mcp.md",
    text: table(
      ["URI", "is"],
      [
        ...RESOURCE_TEMPLATES.map(({ uriTemplate, description }) => [code(uriTemplate), cell(description)]),
        [code(FORM_URI), "The form of a hand-off, for hosts that show apps."],
      ],
    ),
  },
  prompts: {
    page: "docs/reference/mcp.md",
    text: table(
      ["prompt", "takes", "does"],
      PROMPTS.map(({ name, description, arguments: takes }) => [
        code(name),
        takes.map((taken) => code(taken.name + (taken.required ? "" : "?"))).join(", "),
        cell(description),
      ]),
    ),
  },
  commands: { page: "docs/reference/cli.md", text: table(["command", "does"], commandRows(await createProgram())) },
};

/** Exactly the names that the first column of a hand-written table must contain. */
export const CHECKED: Record<string, { page: string; names: readonly string[] }> = {
  "tool-lists": { page: "docs/reference/mcp.md", names: TOOLS_MODES },
  "short-answers": {
    page: "docs/reference/mcp.md",
    names: [
      "missingFields",
      "validationErrors",
      ...Object.values(ADDED).flatMap((members) => Object.keys(members)),
      "content[1]",
      "_meta.idempotent_replayed",
    ],
  },
  proposals: { page: "docs/reference/mcp.md", names: ["tool", "arguments", "supply", "note", "changed"] },
  extensions: { page: "docs/reference/mcp.md", names: [UI_EXTENSION, TASKS_EXTENSION] },
};
