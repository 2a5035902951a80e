/**
 * Serves the web pages. They are static files, built by apps/web and read into memory at start, that call the API like any other
 * client.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { acceptsGzip, preferredType } from "./parse/preferred.ts";

export const PAGE_NAMES = ["form", "review", "start"] as const;
export type PageName = (typeof PAGE_NAMES)[number];

export interface PagesOptions {
  /** The build output of apps/web. */
  folder: string;
  /** Other origins that pages upload files to, for example a bucket. */
  uploadOrigins(): readonly string[];
}

interface Asset {
  type: string;
  plain: Buffer;
  gzipped: Buffer;
}

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json; charset=utf-8",
};

/** Files with a content hash in their name never change. */
const FOREVER = "public, max-age=31536000, immutable";
const HASHED = /-[\w-]{8}\.\w+$/;

/** The embed script has a fixed name, so it is cached only briefly. */
const SCRIPT = "embed.js";
const SCRIPT_CACHE = "public, max-age=300";

/** Same origin only; no inline code, no eval, no HTML from strings. */
const policyFor = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob: ${origins.join(" ")}`.trim(),
    `connect-src 'self' ${origins.join(" ")}`.trim(),
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

export interface Pages {
  has(name: PageName): boolean;
  send(name: PageName, request: FastifyRequest, reply: FastifyReply): FastifyReply;
}

export function createPages({ folder, uploadOrigins }: PagesOptions): Pages & { register(app: FastifyInstance): void } {
  const assets = new Map<string, Asset>();
  for (const name of readdirSync(folder).filter((name) => TYPES[extname(name)] !== undefined)) {
    const plain = readFileSync(join(folder, name));
    assets.set(name, { type: TYPES[extname(name)] ?? "", plain, gzipped: gzipSync(plain) });
  }

  function send({ type, plain, gzipped }: Asset, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const isZipped = acceptsGzip(request);
    reply.header("content-type", type).header("vary", "Accept, Accept-Encoding");
    if (isZipped) reply.header("content-encoding", "gzip");
    return reply.send(isZipped ? gzipped : plain);
  }

  const has = (name: PageName): boolean => assets.has(`${name}.html`);
  function sendPage(name: PageName, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const asset = assets.get(`${name}.html`);
    if (asset === undefined) throw new Error(`the page ${name} was not built`);
    reply.header("content-security-policy", policyFor(uploadOrigins()));
    return send(asset, request, reply);
  }

  return {
    has,
    send: sendPage,
    register(app) {
      // For browsers only; programs get a 404.
      if (has("start")) {
        app.get("/", (request, reply) =>
          prefersHtml(request) ? sendPage("start", request, reply) : reply.callNotFound(),
        );
      }
      // The review queue; the page asks for an API key.
      if (has("review")) app.get("/review", (request, reply) => sendPage("review", request, reply));
      app.get("/assets/:name", (request, reply) => {
        const { name } = request.params as { name: string };
        const asset = assets.get(name);
        if (asset === undefined || !HASHED.test(name)) return reply.callNotFound();
        return send(asset, request, reply.header("cache-control", FOREVER));
      });
      app.get(`/${SCRIPT}`, (request, reply) => {
        const script = assets.get(SCRIPT);
        if (script === undefined) return reply.callNotFound();
        return send(script, request, reply.header("cache-control", SCRIPT_CACHE));
      });
    },
  };
}

/** Browsers list HTML first when they open a link; a client that accepts anything gets JSON. */
export function prefersHtml(request: FastifyRequest): boolean {
  const isRead = request.method === "GET" || request.method === "HEAD";
  return isRead && preferredType(request, ["application/json", "text/html"]) === "text/html";
}
