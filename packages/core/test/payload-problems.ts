import { EVENT_PAYLOADS, type EventType } from "@formbridge/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

const ajv = formats.default(new Ajv2020({ allErrors: true, strict: false }));

/** What the contract finds wrong with an event's payload. */
export function payloadProblems(type: EventType, payload: unknown): string[] {
  if (ajv.validate(EVENT_PAYLOADS[type], payload)) return [];
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params }) => `${type}${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}
