export interface Frame {
  id: string;
  event: string;
  data: string;
}

export interface EventStreamReader {
  contentType: string;
  /** The next frames without comments; fails if the stream ends before them. */
  take(count: number): Promise<Frame[]>;
  /** Reads to the end of the stream. */
  rest(): Promise<Frame[]>;
  close(): Promise<void>;
}

function frameOf(text: string): Frame | undefined {
  const lines = text.split("\n").filter((line) => !line.startsWith(":"));
  if (lines.length === 0) return undefined;
  const value = (name: string): string =>
    lines
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2))
      .join("\n");
  return { id: value("id"), event: value("event"), data: value("data") };
}

/** A client for server-sent events that a test can read frame by frame. */
export async function openStream(url: string, headers: Record<string, string> = {}): Promise<EventStreamReader> {
  const gone = new AbortController();
  const response = await fetch(url, { headers: { accept: "text/event-stream", ...headers }, signal: gone.signal });
  if (response.status !== 200 || response.body === null) throw new Error(`no stream: ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let ended = false;
  async function next(): Promise<Frame | undefined> {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        const frame = frameOf(text.slice(0, end));
        text = text.slice(end + 2);
        if (frame !== undefined) return frame;
        continue;
      }
      if (ended) return undefined;
      const { done, value } = await reader.read();
      ended = done;
      text += value ?? "";
    }
  }
  return {
    contentType: response.headers.get("content-type") ?? "",
    async take(count) {
      const frames: Frame[] = [];
      while (frames.length < count) {
        const frame = await next();
        if (frame === undefined) throw new Error(`the stream ended after ${frames.length} of ${count} frames`);
        frames.push(frame);
      }
      return frames;
    },
    async rest() {
      const frames: Frame[] = [];
      for (let frame = await next(); frame !== undefined; frame = await next()) frames.push(frame);
      return frames;
    },
    async close() {
      gone.abort();
      await reader.cancel().catch(() => {});
    },
  };
}
