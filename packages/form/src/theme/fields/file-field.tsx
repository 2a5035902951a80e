import { type DragEvent, type ReactElement, useContext, useEffect, useRef, useState } from "react";
import { dotted } from "../../engine/hints.ts";
import { type FileProgress, type FormContext, FormContexts, useFormContext } from "../../form-context.ts";
import { describedBy, useErrors } from "../frame.tsx";
import type { DrawnField } from "./field.tsx";

interface FileRule {
  accept: string[];
  maxBytes: number;
  maxFiles?: number;
}

interface Reference {
  uploadId: string;
  filename?: string;
  mimeType?: string;
  sizeBytes?: number;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"];

/** A size in the browser's own notation: 1.5 MB, 1,5 Mo. */
export function readableSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const size = bytes / 1000 ** power;
  const maximumFractionDigits = size >= 10 ? 0 : 1;
  return new Intl.NumberFormat(undefined, { style: "unit", unit: UNITS[power], maximumFractionDigits }).format(size);
}

/** A file field: uploaded files, uploads in progress, and a place to drop more. */
export function FileField({ field }: { field: DrawnField }): ReactElement {
  const { schema, value, place, isOff: isReadOnly, onChange } = field;
  const context = useFormContext();
  const files = useContext(FormContexts.Files);
  const rule = (schema as { "x-file"?: FileRule })["x-file"] ?? { accept: ["*/*"], maxBytes: Number.MAX_SAFE_INTEGER };
  const path = dotted(place.path);
  const { id } = place;
  const errors = useErrors(path);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const references = (
    Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  ) as Reference[];
  const inFlight = files?.inFlight(path) ?? [];
  const limit = rule.maxFiles ?? 1;
  const isOff = isReadOnly || files === undefined;
  const isFull = limit > 1 && references.length + inFlight.length >= limit;

  function take(chosen: Iterable<File>): void {
    const all = [...chosen].map((file) => ({ file, refused: refusal(file, rule, context) }));
    const room = limit > 1 ? limit - references.length - inFlight.length : 1;
    const taken = all.filter(({ refused }) => refused === undefined);
    const refused = all.flatMap((each) => each.refused ?? []);
    const tooMany = taken.length > room ? [context.t("file.tooMany", { count: limit })] : [];
    setProblems([...refused, ...tooMany]);
    for (const { file } of taken.slice(0, room)) files?.send(path, file);
  }

  const remove = (uploadId: string): void => {
    const left = references.filter((each) => each.uploadId !== uploadId);
    onChange(limit > 1 && left.length > 0 ? left : undefined, place.path);
  };

  return (
    <div className="fb-files">
      <ul className="fb-file-list">
        {references.map((file) => (
          <SentFile
            key={file.uploadId}
            file={file}
            context={context}
            {...(!isOff && { onRemove: () => remove(file.uploadId) })}
          />
        ))}
        {inFlight.map((file) => (
          <MovingFile key={file.id} file={file} context={context} />
        ))}
      </ul>
      {!isOff && !isFull && (
        <DropZone onFiles={take}>
          <label className="fb-button" htmlFor={id}>
            {context.t(references.length > 0 && limit === 1 ? "file.replace" : "file.choose")}
            <input
              id={id}
              className="fb-file-input"
              type="file"
              accept={rule.accept.join(",")}
              multiple={limit > 1}
              aria-describedby={[describedBy(field, errors), `${id}__limits`].join(" ").trim()}
              aria-invalid={errors.length > 0 ? true : undefined}
              onChange={(event) => {
                take(event.currentTarget.files ?? []);
                event.currentTarget.value = "";
              }}
            />
          </label>
          <span className="fb-drop-hint">{context.t("file.drop")}</span>
        </DropZone>
      )}
      <p className="fb-help" id={`${id}__limits`}>
        {limitsOf(rule, context)}
      </p>
      <div role="alert">
        {problems.map((problem) => (
          <p key={problem} className="fb-errors">
            {problem}
          </p>
        ))}
      </div>
    </div>
  );
}

/** `image/png` reads PNG, `image/*` image; names that are longer stay as they are. */
function shortType(type: string): string {
  const [kind = "", name = ""] = type.split("/");
  if (name === "*") return kind;
  return name.length <= 5 ? name.toUpperCase() : name;
}

function limitsOf({ accept, maxBytes, maxFiles = 1 }: FileRule, { t }: FormContext): string {
  const types = accept.map(shortType).join(", ");
  const size = readableSize(maxBytes);
  return maxFiles > 1 ? t("file.limitsMany", { types, size, count: maxFiles }) : t("file.limits", { types, size });
}

/** Checked before anything is uploaded. The server checks the bytes again. */
function refusal(file: File, rule: FileRule, { t }: FormContext): string | undefined {
  const { name, size, type } = file;
  if (size > rule.maxBytes) {
    return t("file.tooLarge", { name, size: readableSize(size), limit: readableSize(rule.maxBytes) });
  }
  const taken = rule.accept.some(
    (accept) => accept === "*/*" || accept === type || (accept.endsWith("/*") && type.startsWith(accept.slice(0, -1))),
  );
  return taken || type === "" ? undefined : t("file.wrongType", { name });
}

function DropZone({
  onFiles,
  children,
}: {
  onFiles(files: Iterable<File>): void;
  children: ReactElement[];
}): ReactElement {
  const [isOver, setOver] = useState(false);
  const drag = (over: boolean) => (event: DragEvent) => {
    event.preventDefault();
    setOver(over);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut; the button inside does the same
    <div
      className="fb-drop"
      data-over={isOver ? "" : undefined}
      onDragOver={drag(true)}
      onDragLeave={drag(false)}
      onDrop={(event) => {
        drag(false)(event);
        onFiles(event.dataTransfer.files);
      }}
    >
      {children}
    </div>
  );
}

interface SentFileProps {
  file: Reference;
  context: FormContext;
  onRemove?: () => void;
}

function SentFile({ file, context, onRemove }: SentFileProps): ReactElement {
  const { t } = context;
  const { url, refresh } = usePreview(file);
  const name = file.filename ?? file.uploadId;
  const isImage = SHOWN_AS_IMAGE.has(file.mimeType ?? "");
  return (
    <li className="fb-file">
      {url !== undefined && isImage && <img className="fb-preview" src={url} alt="" />}
      {url === undefined ? (
        <span className="fb-file-name">{name}</span>
      ) : (
        <a
          className="fb-file-name"
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          onFocus={refresh}
          onPointerEnter={refresh}
        >
          {name}
        </a>
      )}
      {file.sizeBytes !== undefined && <span className="fb-file-size">{readableSize(file.sizeBytes)}</span>}
      {onRemove !== undefined && (
        <button type="button" className="fb-button fb-quiet" onClick={onRemove}>
          {t("form.remove")}
          <span className="fb-sr"> {name}</span>
        </button>
      )}
    </li>
  );
}

/** Formats that every browser draws and none runs: an SVG may hold script. */
const SHOWN_AS_IMAGE: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
]);

/** Signed links expire: request a new one before opening a link that is older than this. */
const FRESH_MS = 60_000;

function usePreview({ uploadId }: Reference): { url: string | undefined; refresh(): void } {
  const files = useContext(FormContexts.Files);
  const [url, setUrl] = useState<string | undefined>(undefined);
  const newest = useRef({ files, uploadId, askedAt: 0 });
  newest.current = { ...newest.current, files, uploadId };
  const ask = useRef(() => {
    newest.current.askedAt = Date.now();
    newest.current.files?.urlOf?.(uploadId).then(
      (found) => newest.current.uploadId === uploadId && setUrl(found),
      () => {},
    );
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is a reason to ask, a new function is not
  useEffect(() => ask.current(), [uploadId]);
  const refresh = () => {
    if (Date.now() - newest.current.askedAt > FRESH_MS) ask.current();
  };
  return { url, refresh };
}

function MovingFile({ file, context }: { file: FileProgress; context: FormContext }): ReactElement {
  const { t } = context;
  const files = useContext(FormContexts.Files);
  const { id, filename: name, state, reason = t("problem.offline.title") } = file;
  const percent = file.sizeBytes === 0 ? 0 : Math.floor((100 * file.sentBytes) / file.sizeBytes);
  const text = t(`file.${state}`, { name, percent, reason });
  return (
    <li className="fb-file" data-state={state}>
      <span className="fb-file-name">{text}</span>
      {state !== "failed" && <progress className="fb-progress" max={100} value={percent} aria-label={name} />}
      {state === "sending" && <FileButton label={t("file.pause")} name={name} onClick={() => files?.pause(id)} />}
      {state === "paused" && <FileButton label={t("file.resume")} name={name} onClick={() => files?.resume(id)} />}
      {state === "failed" && <FileButton label={t("file.retry")} name={name} onClick={() => files?.resume(id)} />}
      {state !== "checking" && <FileButton label={t("file.cancel")} name={name} onClick={() => files?.cancel(id)} />}
    </li>
  );
}

const FileButton = ({ label, name, onClick }: { label: string; name: string; onClick(): void }): ReactElement => (
  <button type="button" className="fb-button fb-quiet" onClick={onClick}>
    {label}
    <span className="fb-sr"> {name}</span>
  </button>
);
