/**
 * The life of a submission. Every other place asks this table.
 *
 *   draft ──▶ in_progress ◀──▶ awaiting_input / awaiting_upload        (editable)
 *                  │
 *                  ▼ submit
 *             submitted ───────────────────────────────▶ finalized
 *                  │ gate                                    ▲
 *                  ▼                                         │ delivered
 *             needs_review ──▶ approved ─────────────────────┘
 *                  │
 *                  ▼
 *              rejected ──▶ in_progress (corrected), submitted (unchanged)
 *
 *   any state that isn't final ──▶ cancelled;   any editable state ──▶ expired
 */
import { EDITABLE_STATES, type SubmissionState } from "@formbridge/contract";

export const TRANSITIONS = {
  draft: ["in_progress", "awaiting_input", "awaiting_upload", "submitted", "cancelled", "expired"],
  in_progress: ["awaiting_input", "awaiting_upload", "submitted", "cancelled", "expired"],
  awaiting_input: ["in_progress", "awaiting_upload", "submitted", "cancelled", "expired"],
  awaiting_upload: ["in_progress", "awaiting_input", "submitted", "cancelled", "expired"],
  rejected: ["in_progress", "awaiting_input", "awaiting_upload", "submitted", "cancelled", "expired"],
  submitted: ["needs_review", "approved", "finalized", "cancelled"],
  needs_review: ["approved", "rejected", "cancelled"],
  approved: ["finalized", "cancelled"],
  finalized: [],
  cancelled: [],
  expired: [],
} as const satisfies Record<SubmissionState, readonly SubmissionState[]>;

export const TERMINAL = ["finalized", "cancelled", "expired"] as const;

export type EditableState = (typeof EDITABLE_STATES)[number];
type TerminalState = (typeof TERMINAL)[number];

export const isEditable = (state: SubmissionState): state is EditableState =>
  (EDITABLE_STATES as readonly string[]).includes(state);

export const isTerminal = (state: SubmissionState): state is TerminalState =>
  (TERMINAL as readonly string[]).includes(state);

/** Staying in the same state is always allowed. */
export const mayMove = (from: SubmissionState, to: SubmissionState): boolean =>
  from === to || (TRANSITIONS[from] as readonly SubmissionState[]).includes(to);
