import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IntakeDefinition } from "@formbridge/contract";
import { expect } from "vitest";
import type { TestServer } from "./harness.ts";
import { created, submit } from "./moves.ts";

/** An intake whose submissions are published on submit. */
export const library: Partial<IntakeDefinition> & { id: string } = {
  id: "theses",
  name: "Theses & dissertations",
  schema: {
    type: "object",
    properties: {
      title: { type: "string" },
      authors: { type: "array", items: { type: "string" } },
      year: { type: "integer" },
      degree: {
        type: "object",
        properties: { name: { type: "string" }, grade: { type: "number", "x-sensitive": true } },
      },
      phone: { type: "string", "x-sensitive": true },
      note: { type: "string" },
    },
    required: ["title"],
  },
  oai: { set: true, dc: { title: "title", creator: "authors", date: "year" }, fields: ["degree"] },
};

let keys = 0;

/** Creates a finalized submission; returns its id. */
export async function finalize(
  server: Pick<TestServer, "call">,
  fields: Record<string, unknown>,
  intakeId = library.id,
): Promise<string> {
  const made = await created(server, intakeId, { body: { initialFields: fields } });
  const reply = await submit(server, made.resumeToken, `oai-${keys++}`);
  expect([reply.status, reply.body.state]).toEqual([200, "finalized"]);
  return made.submissionId;
}

const SCHEMAS = join(import.meta.dirname, "oai-xsd");

/** Collects responses of `/oai` and has xmllint validate all of them at once. */
export class Answers {
  readonly #texts: string[] = [];

  add(text: string): string {
    this.#texts.push(text);
    return text;
  }

  /** Validation errors, by the protocol's schemas and by ours as served. */
  problems(recordSchema: string): string {
    const folder = mkdtempSync(join(tmpdir(), "formbridge-oai-"));
    try {
      cpSync(SCHEMAS, folder, { recursive: true });
      writeFileSync(join(folder, "record.xsd"), recordSchema);
      const all = readFileSync(join(folder, "all.xsd"), "utf8");
      const ours = '<xs:import namespace="urn:x-formbridge:record:1" schemaLocation="record.xsd"/>';
      writeFileSync(join(folder, "all.xsd"), all.replace("</xs:schema>", `${ours}</xs:schema>`));
      const files = this.#texts.map((text, index) => {
        const file = join(folder, `${index}.xml`);
        writeFileSync(file, text);
        return file;
      });
      expect(files.length).toBeGreaterThan(0);
      return xmllint(
        ["--nonet", "--noout", "--schema", join(folder, "all.xsd"), ...files],
        join(folder, "catalog.xml"),
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** xmllint's errors; empty if everything is valid. */
function xmllint(args: readonly string[], catalog: string): string {
  try {
    const env = { ...process.env, XML_CATALOG_FILES: catalog };
    execFileSync("xmllint", [...args], { env, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
    return "";
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    if (stderr === undefined) throw error;
    const lines = stderr.split("\n").filter((line) => line !== "" && !line.endsWith(" validates"));
    return lines.join("\n") || "xmllint failed and did not say why";
  }
}

/** The contents of all elements with this name. */
export const all = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, "gs"))].map(([, content = ""]) => content);

export const identifiers = (xml: string): string[] => all(xml, "identifier").map((id) => id.split(":").at(-1) ?? "");

/** The attributes and text of the resumption token, if there is one. */
export function resumption(
  xml: string,
): { token: string; cursor: number; total: number; expires?: string } | undefined {
  const [, attributes = "", token = ""] =
    xml.match(/<resumptionToken([^>]*?)(?:\/>|>([^<]*)<\/resumptionToken>)/) ?? [];
  if (attributes === "") return undefined;
  const named = (name: string) => attributes.match(new RegExp(`${name}="([^"]*)"`))?.[1];
  const expires = named("expirationDate");
  return {
    token,
    cursor: Number(named("cursor")),
    total: Number(named("completeListSize")),
    ...(expires !== undefined && { expires }),
  };
}

export const errorOf = (xml: string): string | undefined => xml.match(/<error code="(\w+)">/)?.[1];
export const dateOf = (xml: string): string => all(xml, "responseDate")[0] ?? "";
