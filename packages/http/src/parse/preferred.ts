import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";

/** The media type that `Accept` ranks highest; the first of `types` on a tie, undefined if it accepts none of them. */
export const preferredType = <T extends string>({ headers }: FastifyRequest, types: readonly T[]): T | undefined =>
  new Negotiator({ headers }).mediaType([...types]) as T | undefined;

export const acceptsGzip = ({ headers }: FastifyRequest): boolean =>
  headers["accept-encoding"] !== undefined && new Negotiator({ headers }).encodings(["gzip"]).includes("gzip");
