import { destination, type Logger, pino, stdTimeFunctions } from "pino";
import { cutSecrets } from "./cut-secrets.ts";

const MAX_TOLD = 10;

const causeOf = ({ cause }: Error): string | undefined =>
  cause instanceof Error ? cutSecrets(cause.message) : undefined;

/** What several failures that are one error say, some of them. */
const partsOf = (error: Error): string[] =>
  error instanceof AggregateError
    ? error.errors
        .slice(0, MAX_TOLD)
        .map((part: unknown) =>
          part instanceof Error ? [cutSecrets(part.message), causeOf(part)].filter(Boolean).join(": ") : typeof part,
        )
    : [];

function toldOf(error: Error) {
  const [cause, errors] = [causeOf(error), partsOf(error)];
  return {
    type: error.name,
    message: cutSecrets(error.message),
    stack: cutSecrets(error.stack ?? ""),
    ...(cause !== undefined && { cause }),
    ...(errors.length > 0 && { errors }),
  };
}

export function createLogger(level: string, { toStderr = false }: { toStderr?: boolean } = {}): Logger {
  const options = {
    level,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: ["req.headers", "headers", "*.authorization", "*.resumeToken", "*.idempotencyKey"], remove: true },
    serializers: { err: toldOf },
  };
  return toStderr ? pino(options, destination(2)) : pino(options);
}
