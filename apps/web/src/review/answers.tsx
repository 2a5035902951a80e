import type { SubmissionRecord } from "@formbridge/contract";
import { type ReactElement, useState } from "react";
import { nameOf } from "../shared/names.ts";
import { inWords, isGroup, type Leaf, type Section, type ValueNode } from "../shared/values.tsx";
import { authorOf, type Changes } from "./changes.ts";
import { type FileLinks, Files } from "./file-links.tsx";
import type { Reader } from "./language.ts";

interface AnswersProps {
  sections: readonly Section[];
  record: SubmissionRecord;
  changes: Changes | undefined;
  links: FileLinks;
  reader: Reader;
  /** Given while the reviewer writes what to change. */
  notes?: Record<string, string>;
  onNote?: (path: string, note: string | undefined) => void;
}

/** The answers, in the sections and groups of the form. */
export function Answers({ sections, ...shared }: AnswersProps): ReactElement {
  const { t } = shared.reader;
  return (
    <>
      {sections.map(({ id, title, description, nodes }) => (
        <section key={id} className="pg-card">
          <h2>{title ?? t(sections.length > 1 ? "answers.rest" : "answers.title")}</h2>
          {description !== undefined && <p className="pg-lead">{description}</p>}
          <Nodes nodes={nodes} {...shared} />
        </section>
      ))}
    </>
  );
}

type Shared = Omit<AnswersProps, "sections">;

function Nodes({ nodes, ...shared }: Shared & { nodes: readonly ValueNode[] }): ReactElement {
  return (
    <ul className="rv-list">
      {nodes.map((node) =>
        isGroup(node) ? (
          <li key={node.path} className="rv-group">
            <h3>{node.label}</h3>
            <Nodes nodes={node.children} {...shared} />
          </li>
        ) : (
          <Answer key={node.path} leaf={node} {...shared} />
        ),
      )}
    </ul>
  );
}

function Answer({ leaf, record, changes, links, reader, notes, onNote }: Shared & { leaf: Leaf }): ReactElement {
  const { t } = reader;
  const { path, label, text } = leaf;
  const isChanged = text !== undefined && changes?.isChanged(path) === true;
  const isRemoved = changes?.removed.includes(path) === true;
  const before = changes?.before.get(path);
  const hasBefore = (isChanged || isRemoved) && before !== undefined && !leaf.isSensitive;
  const files = links.files.filter(({ uploadId }) => uploadsIn(leaf.value).includes(uploadId));
  return (
    <li className="rv-answer" data-changed={isChanged || isRemoved ? "" : undefined}>
      <div className="rv-label">
        <span>{label}</span>
        {leaf.isSensitive && <span className="rv-badge">{t("answers.sensitive")}</span>}
        {isChanged && <span className="rv-badge rv-new">{t("changed.badge")}</span>}
        {isRemoved && <span className="rv-badge rv-new">{t("changed.removed")}</span>}
      </div>
      {text === undefined ? (
        <p className="rv-empty">{t("answers.empty")}</p>
      ) : files.length > 0 ? (
        <Files files={files} links={links} reader={reader} />
      ) : leaf.isSensitive ? (
        <Sensitive text={text} label={label} reader={reader} />
      ) : (
        <p className="rv-text">{text}</p>
      )}
      {hasBefore && <p className="pg-note">{t("changed.before", { value: inWords(before, { t }) })}</p>}
      {text !== undefined && <Author record={record} path={path} reader={reader} />}
      {onNote !== undefined && <Note path={path} label={label} note={notes?.[path]} onNote={onNote} reader={reader} />}
    </li>
  );
}

const uploadsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((each) =>
    typeof each === "object" && each !== null && "uploadId" in each ? [String(each.uploadId)] : [],
  );

function Author({ record, path, reader }: { record: SubmissionRecord; path: string; reader: Reader }) {
  const author = authorOf(record, path);
  if (author === undefined) return null;
  const { actor, at } = author;
  const name = nameOf(actor, reader.t);
  const proof = actor.declared === true ? "none" : (actor.proof ?? (actor.kind === "system" ? undefined : "key"));
  return (
    <p className="pg-note">
      {reader.t(`author.${actor.kind}`, { name, time: reader.time(at) })}
      {proof !== undefined && (
        <span className={proof === "none" ? "rv-proof rv-unproven" : "rv-proof"}>{reader.t(`proof.${proof}`)}</span>
      )}
    </p>
  );
}

/** Not to be read over the reviewer's shoulder. */
function Sensitive({ text, label, reader: { t } }: { text: string; label: string; reader: Reader }): ReactElement {
  const [isShown, setShown] = useState(false);
  return (
    <p className="rv-text">
      {isShown ? text : "••••••"}{" "}
      <button type="button" className="fb-button fb-quiet" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        {t(isShown ? "answers.hide" : "answers.show")}
        <span className="fb-sr"> {label}</span>
      </button>
    </p>
  );
}

interface NoteProps {
  path: string;
  label: string;
  note: string | undefined;
  onNote: NonNullable<AnswersProps["onNote"]>;
  reader: Reader;
}

const MAX_NOTE = 2000;

function Note({ path, label, note, onNote, reader: { t } }: NoteProps): ReactElement {
  if (note === undefined) {
    return (
      <button type="button" className="fb-button fb-quiet rv-add" onClick={() => onNote(path, "")}>
        {t("decide.note")}
        <span className="fb-sr"> {label}</span>
      </button>
    );
  }
  return (
    <label className="rv-note">
      <span className="fb-label">{t("decide.noteFor", { label })}</span>
      <textarea
        className="fb-input fb-textarea"
        // biome-ignore lint/a11y/noAutofocus: it appears because its button was pressed
        autoFocus
        maxLength={MAX_NOTE}
        value={note}
        onInput={(event) => onNote(path, event.currentTarget.value)}
      />
    </label>
  );
}
