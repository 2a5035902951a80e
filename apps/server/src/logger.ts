import { cutSecrets } from "@formbridge/contract";
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";
import pretty from "pino-pretty";

const MAX_TOLD = 10;

/** Characters in a message that could start a new line or move a terminal's cursor. */
const onOneLine = (text: string): string => cutSecrets(text).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");

const causeOf = ({ cause }: Error): string | undefined =>
  cause instanceof Error ? onOneLine(cause.message) : undefined;

/** The messages of an AggregateError's first errors. */
const partsOf = (error: Error): string[] =>
  error instanceof AggregateError
    ? error.errors
        .slice(0, MAX_TOLD)
        .map((part: unknown) =>
          part instanceof Error ? [onOneLine(part.message), causeOf(part)].filter(Boolean).join(": ") : typeof part,
        )
    : [];

/** Only the stack frames, because the message is logged once, on one line. */
const placesOf = ({ name, message, stack = "" }: Error): string =>
  [`${name}: ${onOneLine(message)}`, ...stack.split("\n").filter((line) => /^ {4}at /.test(line))].join("\n");

function toldOf(error: Error) {
  const [cause, errors] = [causeOf(error), partsOf(error)];
  return {
    type: error.name,
    message: onOneLine(error.message),
    stack: cutSecrets(placesOf(error)),
    ...(cause !== undefined && { cause }),
    ...(errors.length > 0 && { errors }),
  };
}

export interface LoggerOptions {
  toStderr?: boolean;
  /** `auto`: readable text on a terminal, JSON elsewhere. */
  format?: "auto" | "json" | "pretty";
}

export interface Loggers {
  /** For everything else: secrets are masked. */
  logger: Logger;
  /** For lines whose fields are all chosen by telemetry, one per request: masking secrets would triple their cost. */
  lines: Logger;
  /**
   * Writes what is buffered. Await it before the process ends: if the reader of the output is gone, what is still buffered at exit
   * keeps the process waiting forever.
   */
  flush(): Promise<void>;
}

const STDOUT = 1;
const STDERR = 2;
/** One write for many lines: at 4 KiB, after 100 ms, on a fatal line and at exit. SIGKILL loses what is not written yet. */
const BUFFERED = { sync: false, minLength: 4096, periodicFlush: 100 };

const options = {
  base: { service: "formbridge-api" },
  timestamp: () => `,"timestamp"${stdTimeFunctions.isoTime().slice(',"time"'.length)}`,
  formatters: { level: (label: string) => ({ level: label }) },
  serializers: { err: toldOf },
};
const redact = {
  paths: ["req.headers", "headers", "*.authorization", "*.resumeToken", "*.idempotencyKey"],
  remove: true,
};

export function createLoggers(level: string, { toStderr = false, format = "auto" }: LoggerOptions = {}): Loggers {
  const [file, { isTTY }] = toStderr ? [STDERR, process.stderr] : [STDOUT, process.stdout];
  const isPretty = format === "pretty" || (format === "auto" && isTTY);
  const out = isPretty ? prettyOut(file, isTTY) : destination({ dest: file, ...BUFFERED });
  const lines = pino({ ...options, level }, out);
  // A closed pipe is an error here; there is nobody left to report it to.
  const flush = () => new Promise<void>((resolve) => lines.flush(() => resolve()));
  return { logger: pino({ ...options, level, redact }, out), lines, flush };
}

const prettyOut = (file: number, isTTY: boolean): DestinationStream =>
  pretty({
    destination: file,
    sync: true,
    colorize: isTTY,
    timestampKey: "timestamp",
    ignore: "service",
    singleLine: true,
  });
