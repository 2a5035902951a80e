import { type Logger, pino, stdTimeFunctions } from "pino";

const SECRET_SHAPES = /\b(rtok|fbk|rvw|sess)_[A-Za-z0-9_-]{8,}/g;
const JWT_SHAPE = /\beyJ[\w-]{8,}(?:\.[\w-]*){1,4}/g;

/** Nothing secret is handed to the logger; should it slip into an error's text, it is cut here. */
export const cutSecrets = (text: string): string => text.replace(SECRET_SHAPES, "$1_…").replace(JWT_SHAPE, "eyJ…");

export function createLogger(level: string): Logger {
  return pino({
    level,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: ["req.headers", "headers", "*.authorization", "*.resumeToken", "*.idempotencyKey"], remove: true },
    serializers: {
      err: (error: Error) => ({
        type: error.name,
        message: cutSecrets(error.message),
        stack: cutSecrets(error.stack ?? ""),
        ...(error.cause instanceof Error && { cause: cutSecrets(error.cause.message) }),
      }),
    },
  });
}
