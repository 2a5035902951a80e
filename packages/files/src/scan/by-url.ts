import { Readable } from "node:stream";
import { ScanFailed, type ScanVerdict } from "@formbridge/core";
import { foundWords } from "./words.ts";

const MAX_ANSWER = 65_536;

/** Sends the file as the body of a POST; the response is `{ "clean": true }` or `{ "clean": false, "found": "…" }`. */
export async function scanByUrl(
  { bytes, sizeBytes }: { bytes: Readable; sizeBytes: number },
  { url, timeoutMs }: { url: string; timeoutMs: number },
): Promise<ScanVerdict> {
  try {
    const { place, login } = readUrl(url);
    const response = await fetch(place, {
      method: "POST",
      headers: { ...login, "content-type": "application/octet-stream", "x-file-size": String(sizeBytes) },
      body: Readable.toWeb(bytes) as unknown as ReadableStream,
      duplex: "half",
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    } as RequestInit);
    if (response.status !== 200) throw new ScanFailed(`the scanner answered ${response.status}`);
    return verdictOf(await response.text());
  } catch (cause) {
    throw cause instanceof ScanFailed ? cause : new ScanFailed("the scanner can't be reached", { cause });
  } finally {
    bytes.destroy();
  }
}

/** `https://user:password@host` means Basic authentication. `fetch` refuses such a URL and quotes it in the error. */
function readUrl(text: string): { place: URL; login: Record<string, string> } {
  const place = new URL(text);
  const { username, password } = place;
  if (username === "" && password === "") return { place, login: {} };
  place.username = "";
  place.password = "";
  const pair = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`, "utf8");
  return { place, login: { authorization: `Basic ${pair.toString("base64")}` } };
}

function verdictOf(text: string): ScanVerdict {
  if (text.length > MAX_ANSWER) throw new ScanFailed("the scanner's response is too long");
  const answer = JSON.parse(text) as { clean?: unknown; found?: unknown } | null;
  if (answer?.clean === true) return { clean: true };
  if (answer?.clean === false) return { clean: false, found: foundWords(String(answer.found ?? "")) };
  throw new ScanFailed("the scanner's response is no verdict");
}
