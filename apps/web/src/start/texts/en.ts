import type { Catalog } from "../../shared/reader.ts";

/** Every text of the start page. */
export const en = {
  "page.loading": "Loading …",
  "start.title": "Forms that agents and people fill in together",
  "start.text":
    "This server collects answers for forms. An AI agent fills in what it knows and sends a link; a person adds the rest.",
  "start.forms": "Open forms",
  "start.none": "There is no form that everybody may fill in.",
  "start.developers": "For developers and reviewers",
  "start.reference": "API reference",
  "start.queue": "Review queue",
  "problem.other.title": "Something went wrong",
  "problem.tryAgain": "Try again",
};

export type StartTexts = Catalog<keyof typeof en>;
