import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Loose, startTestServer, type TestServer } from "../support/harness.ts";
import { inspect } from "../support/inspector.ts";
import { callTool, listTools } from "../support/mcp-raw.ts";
import { generateIntakes } from "./generated-intakes.ts";

const COUNT = 200;
const intakes = generateIntakes(COUNT, 20_260_728);

let server: TestServer;
let tools: Map<string, Loose>;
beforeAll(async () => {
  server = await startTestServer({ env: { FORMBRIDGE_MCP_TOOLS: "intake" } });
  for (const { definition } of intakes) {
    const { status, body } = await server.putIntake(definition);
    if (status !== 201) throw new Error(`${JSON.stringify(body)}: ${JSON.stringify(definition.schema)}`);
  }
  tools = new Map((await listTools(server.url)).map((tool) => [tool.name, tool]));
}, 120_000);
afterAll(() => server.stop());

/** Keywords that hosts do not accept at the root. */
const NOT_AT_ROOT = ["oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref"];

describe(`of ${COUNT} generated intakes`, () => {
  it("[MCP-CONFORMS] the strict lint accepts every tool", async () => {
    const { code, errors } = await inspect([`${server.url}/mcp`], "new", ["--method", "tools/list", "--strict"]);
    expect({ code, errors: errors.split("\n").filter((line) => line.startsWith("Error")) }).toEqual({
      code: 0,
      errors: [],
    });
  }, 120_000);

  it("[MCP-FLAT] [MCP-TOOLS] [MCP-ANNOTATED] every tool has a plain root, a name that hosts accept, and all annotations", () => {
    const odd = [...tools.values()].filter(({ name, description, inputSchema, outputSchema, annotations }) => {
      const isPlain = [inputSchema, outputSchema].every(
        (schema) => schema.type === "object" && !NOT_AT_ROOT.some((keyword) => Object.hasOwn(schema, keyword)),
      );
      const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
      const isToldOf = hints.every((hint) => typeof annotations[hint] === "boolean") && description.length > 20;
      return !isPlain || !isToldOf || !/^[A-Za-z0-9_.-]{1,128}$/.test(name);
    });
    expect(odd.map(({ name }) => name)).toEqual([]);
    const made = [...tools.keys()].filter((name) => name.startsWith("formbridge_made-"));
    // The verbs of the design documents, and confirm, handoff, cancel and retry.
    expect(made).toHaveLength(COUNT * 11);
  });

  it("[MCP-FLAT] [MCP-ANSWER] the valid example passes the tool's schema, the call, and the submission is ready", async () => {
    const found: unknown[] = [];
    for (const { definition, example } of intakes) {
      const name = `formbridge_${definition.id}_create`;
      const { inputSchema, outputSchema } = tools.get(name) as Loose;
      const args = { initialFields: example, verbose: true };
      const problems = [...complaints(inputSchema, args)];
      const { message } = await callTool(server.url, name, args);
      const { isError, structuredContent: body } = message.result;
      problems.push(...complaints(outputSchema, body));
      if (isError === true || body.validationErrors.length > 0) problems.push(body.error ?? body.validationErrors);
      const short = await callTool(server.url, `formbridge_${definition.id}_status`, { resumeToken: body.resumeToken });
      problems.push(
        ...complaints(
          tools.get(`formbridge_${definition.id}_status`)?.outputSchema,
          short.message.result.structuredContent,
        ),
      );
      if (problems.length > 0) found.push({ problems, schema: definition.schema, example });
    }
    expect(JSON.stringify(found.slice(0, 3), undefined, 1)).toBe("[]");
  }, 120_000);
});

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
/** Most tools have the same output schema. */
const checks = new Map<string, ValidateFunction>();

/** What a client that checks by the tool's own schema would find wrong. */
function complaints(schema: Loose, value: unknown): unknown[] {
  const text = JSON.stringify(schema);
  const check = checks.get(text) ?? ajv.compile(schema);
  checks.set(text, check);
  return check(value) ? [] : (check.errors ?? []);
}
