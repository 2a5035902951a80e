/** A result of `tools/call`: the envelope as data, and the same as text for hosts that show no data. */
export interface ToolResult {
  [name: string]: unknown;
  content: { type: "text"; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

export function toolResult(
  body: Record<string, unknown>,
  { isError = false, replayed = false }: { isError?: boolean; replayed?: boolean } = {},
): ToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(body) }],
    structuredContent: body,
    ...(isError && { isError: true }),
    ...(replayed && { _meta: { idempotent_replayed: true } }),
  };
}
