import type { ContractPromise } from "./promise.ts";

/** The pages that people see. */
export const PAGES_PROMISES = [
  {
    id: "PAGES-FORM",
    says: "A link shows the form prefilled, with who set each field; what is typed is saved and submitted, and a receipt is shown.",
  },
  { id: "FORM-TYPED", says: "A form stores what was typed into it, and nothing that was not typed or chosen." },
  {
    id: "FORM-DRAWN",
    says: "Every JSON Schema has a form that follows the intake's hints and shows nothing of what is hidden.",
  },
  {
    id: "FORM-LISTS",
    says: "Items of a list can be added, moved and removed; rows that are still empty are not stored.",
  },
  { id: "FORM-TEXT", says: "Titles, hints, choices and file names are shown as text, whatever they contain." },
  {
    id: "FORM-REACT",
    says: "`FormBridgeForm` is the form of a submission as a component for applications built with React.",
  },
  { id: "FORM-SIZE", says: "The form page is at most 90 kB of script and 6 kB of style, compressed." },
  { id: "PAGES-REVIEW-SIZE", says: "The review page is at most 110 kB of script and style, compressed." },
  { id: "PAGES-LIVE", says: "Values that others write appear automatically, and never disturb what is being typed." },
  { id: "PAGES-CONFLICT", says: "When two people changed one field, the page shows both values and asks." },
  {
    id: "PAGES-TOGETHER",
    says: "Whatever the network does, nothing that others stored is overwritten before the person has seen it.",
  },
  {
    id: "PAGES-NOTHING-LOST",
    says: "Nothing typed is dropped before the server has confirmed it or the person has chosen otherwise.",
  },
  { id: "PAGES-REFUSED", says: "A value that can't be stored is shown at its field, and everything else is saved." },
  { id: "PAGES-LISTS", says: "A list that is being edited is one field, and is not redrawn while it has the focus." },
  { id: "PAGES-TABS", says: "Two tabs of one person neither remove nor repeat each other's unsaved answers." },
  {
    id: "PAGES-UPLOADS",
    says: "An upload can be paused, continues where it was interrupted, and shows why it was refused.",
  },
  { id: "PAGES-SENSITIVE", says: "Sensitive answers are never kept in the browser's storage." },
  {
    id: "PAGES-ENDED",
    says: "When a link can no longer write, unsaved answers can be copied, and are saved when it opens again.",
  },
  {
    id: "PAGES-TYPING-SOAK",
    says: "Every character that was shown as saved is stored, however often others write and the server restarts.",
  },
  { id: "PAGES-RELOAD", says: "What was typed survives a lost connection, a reload and a crash of the tab." },
  { id: "PAGES-PUBLIC", says: "A public intake has a form at /forms/{intakeId}; opening it creates nothing." },
  { id: "PAGES-DIRECT", says: "A page opened with a direct link still works after its token was rotated." },
  {
    id: "PAGES-LANGUAGES",
    says: "Pages and intakes appear in the browser's language, in its direction and with its plural forms.",
  },
  {
    id: "PAGES-BRANDING",
    says: "A form shows its intake's name, logo and color; the color stays readable in light and dark.",
  },
  {
    id: "EMBED-ELEMENT",
    says: "One script tag puts a form into a page of another origin with a strict CSP; showing it creates nothing.",
  },
  {
    id: "EMBED-EVENTS",
    says: "The element reports what happened to its page by events that contain ids and no secret.",
  },
  { id: "EMBED-ISOLATED", says: "No style crosses the element's border except through its --fb-* properties." },
  {
    id: "EMBED-CARRIERS",
    says: "Elements can be opened with a token, session or link, several on a page, without cookies.",
  },
  { id: "EMBED-SIZE", says: "The element loads at most 95 kB of script." },
  {
    id: "PAGES-REVIEW",
    says: "A review link opens a page that shows everything needed for a decision, and has a button to decide.",
  },
  { id: "PAGES-REVIEW-QUEUE", says: "Reviewers with a key have their queue at /review; the key is stored nowhere." },
  {
    id: "PAGES-REVIEW-OVER",
    says: "A review link that was used, has expired, was decided or withdrawn, or is wrong explains that, and what to do.",
  },
  {
    id: "PAGES-REVIEW-SAFE",
    says: "Hostile values are shown as text on the review page, and its link stays in the address bar.",
  },
  {
    id: "PAGES-REVIEW-ACCESSIBLE",
    says: "The review page works by keyboard alone, and axe finds nothing in either scheme.",
  },
  {
    id: "PAGES-DOOR",
    says: "A browser that opens / sees what this is and the public intakes; no data, no other intake.",
  },
  { id: "PAGES-LINKS", says: "Each kind of hand-off link opens the form, and opens it again after a reload." },
  {
    id: "PAGES-WHO",
    says: "A link for several people asks which of them is here; a person without a name is shown as such.",
  },
  {
    id: "PAGES-LATER",
    says: "A person can make their own link to continue later: shown, copied, as a QR code, or by mail.",
  },
  {
    id: "PAGES-PROBLEMS",
    says: "A link that does not work says why and what to do; unsaved answers can be copied.",
  },
  {
    id: "PAGES-CHECK",
    says: 'A failed check lists every problem with a link to its field; "next missing" goes to each in turn.',
  },
  { id: "PAGES-REJECTED", says: "A rejected form says why, above the form and at the fields, until they are changed." },
  {
    id: "PAGES-ACCESSIBLE",
    says: "axe finds nothing, in light and dark; the keyboard is enough; the bar never covers the focus.",
  },
  {
    id: "PAGES-HOSTILE",
    says: "No value, name, hint or file name runs a script, calls another server or leaks a token.",
  },
  { id: "PAGES-SCANNERS", says: "Opening links a thousand times uses up and creates nothing." },
] as const satisfies readonly ContractPromise[];
