/** An image beside the text, for hosts that can show it. */
export interface Picture {
  type: "image";
  mimeType: string;
  /** Base64. */
  data: string;
}

/** A result of `tools/call`: the envelope as structured content, and again as text for hosts that only show text. */
export interface ToolResult {
  [name: string]: unknown;
  content: ({ type: "text"; text: string } | Picture)[];
  structuredContent: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

export function toolResult(
  body: Record<string, unknown>,
  {
    isError = false,
    replayed = false,
    pictures = [],
  }: { isError?: boolean; replayed?: boolean; pictures?: readonly Picture[] } = {},
): ToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(body) }, ...pictures],
    structuredContent: body,
    ...(isError && { isError: true }),
    ...(replayed && { _meta: { idempotent_replayed: true } }),
  };
}
