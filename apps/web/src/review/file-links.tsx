import type { FileLink } from "@formbridge/contract";
import { type MouseEvent, type ReactElement, useCallback, useRef, useState } from "react";
import type { Reader } from "./language.ts";
import type { ReviewSource } from "./source.ts";

/** Links to files work for minutes, reviews take longer: a link is renewed when it is used. */
export interface FileLinks {
  files: readonly FileLink[];
  /** Opens a file by a fresh link. */
  open(uploadId: string): void;
  /** Renews the links once for a picture that did not load. */
  retry(uploadId: string): void;
}

export function useFileLinks(
  source: ReviewSource,
  { files: first, onFailed }: { files: readonly FileLink[]; onFailed(error: unknown): void },
): FileLinks {
  const [files, setFiles] = useState(first);
  const retried = useRef(new Set<string>()).current;
  const renew = useCallback(async (): Promise<readonly FileLink[]> => {
    const { files: fresh = [] } = (await source.load()).record;
    setFiles(fresh);
    return fresh;
  }, [source]);
  return {
    files,
    open(uploadId) {
      renew().then((fresh) => save(fresh.find((file) => file.uploadId === uploadId)), onFailed);
    },
    retry(uploadId) {
      if (retried.has(uploadId)) return;
      retried.add(uploadId);
      renew().catch(onFailed);
    },
  };
}

/** Files come as attachments, so the page stays where it is. */
function save(file: FileLink | undefined): void {
  if (file === undefined) return;
  const link = document.createElement("a");
  Object.assign(link, { href: file.url, download: file.filename, rel: "noreferrer" });
  link.click();
}

/** Images that browsers draw without running anything in them. */
const DRAWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

function sizeIn(locale: string, bytes: number): string {
  const unit = Math.min(Math.max(0, Math.floor(Math.log10(bytes || 1) / 3)), UNITS.length - 1);
  const options = { style: "unit", unit: UNITS[unit] ?? "byte", maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(locale, options).format(bytes / 1000 ** unit);
}

interface FilesProps {
  files: readonly FileLink[];
  links: FileLinks;
  reader: Reader;
}

export function Files({ files, links, reader: { t, locale } }: FilesProps): ReactElement {
  return (
    <ul className="rv-files">
      {files.map(({ uploadId, url, filename, mimeType, sizeBytes }) => {
        const onClick = (event: MouseEvent<HTMLAnchorElement>): void => {
          event.preventDefault();
          links.open(uploadId);
        };
        return (
          <li key={uploadId}>
            {DRAWN.has(mimeType) && (
              <img
                className="rv-preview"
                src={url}
                alt={t("file.preview", { name: filename })}
                loading="lazy"
                onError={() => links.retry(uploadId)}
              />
            )}
            <a href={url} rel="noreferrer" onClick={onClick}>
              {filename}
            </a>{" "}
            <span className="pg-note">
              {mimeType} · {sizeIn(locale, sizeBytes)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
