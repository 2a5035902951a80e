export interface ServerSentEvent {
  id?: string;
  data: string;
}

/** Reads `text/event-stream` as browsers do: one message for each blank line, comments left out. */
export async function* readServerSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of lines(body)) {
    if (line === "") {
      if (data.length > 0) yield { ...(id !== undefined && { id }), data: data.join("\n") };
      data = [];
    } else {
      const [, name = "", value = ""] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line) ?? [];
      if (name === "id") id = value;
      if (name === "data") data.push(value);
    }
  }
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    while (true) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const complete = rest.split(/\r\n|\n|\r(?!$)/);
      rest = complete.pop() ?? "";
      yield* complete;
    }
  } finally {
    // The caller may leave in the middle: the connection must not stay open.
    await reader.cancel().catch(() => {});
  }
}
