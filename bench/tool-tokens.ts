import { encode } from "gpt-tokenizer/encoding/o200k_base";

/** The part of a tool in `tools/list` that matters for its size. */
interface ListedTool {
  name: string;
  description?: string | undefined;
  inputSchema: unknown;
}

export interface ToolTokens {
  tools: number;
  /** What hosts put into a model's context: each tool's name, description and input schema. */
  told: number;
  /** The whole list, with output schemas and annotations, which hosts don't pass on. */
  raw: number;
}

/**
 * How much of a model's context a list of tools takes, by the tokenizer of current OpenAI models; others differ by
 * about 10 %.
 */
export const tokensOf = (tools: readonly ListedTool[]): ToolTokens => ({
  tools: tools.length,
  told: encode(JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))))
    .length,
  raw: encode(JSON.stringify(tools)).length,
});
