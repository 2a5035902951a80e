import type { PublishedRecord } from "@formbridge/core";
import { toSeconds } from "./dates.ts";
import type { LiveRecord, MetadataFormat } from "./formats.ts";
import { element, leaf, writeAttributes, type Xml } from "./xml.ts";

export const identifierOf = (domain: string, submissionId: string): string => `oai:${domain}:${submissionId}`;

const DELETED = writeAttributes({ status: "deleted" });
const PLAIN = writeAttributes({});

/** Writes the records of one response. */
export function recordWriter({ domain, baseUrl }: { domain: string; baseUrl: string }) {
  const header = ({ submissionId, intakeId, stampedAt, isDeleted }: PublishedRecord): Xml =>
    element(
      "header",
      isDeleted ? DELETED : PLAIN,
      leaf("identifier", identifierOf(domain, submissionId)),
      leaf("datestamp", toSeconds(stampedAt)),
      leaf("setSpec", intakeId),
    );
  const record = (published: PublishedRecord, format: MetadataFormat): Xml => {
    if (!hasContent(published)) return element("record", PLAIN, header(published));
    const at = { identifier: identifierOf(domain, published.submissionId), schema: format.schema(baseUrl) };
    return element("record", PLAIN, header(published), element("metadata", PLAIN, format.write(published, at)));
  };
  return { header, record };
}

const hasContent = (record: PublishedRecord): record is LiveRecord => record.content !== undefined;
