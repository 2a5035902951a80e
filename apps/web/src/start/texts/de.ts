import type { StartTexts } from "./en.ts";

export const de: StartTexts = {
  "page.loading": "Wird geladen …",
  "start.title": "Formulare, die Agenten und Menschen gemeinsam ausfüllen",
  "start.text":
    "Dieser Server sammelt Angaben für Formulare. Ein KI-Agent trägt ein, was er weiß, und schickt einen Link; ein Mensch ergänzt den Rest.",
  "start.forms": "Offene Formulare",
  "start.none": "Es gibt kein Formular, das jeder ausfüllen darf.",
  "start.developers": "Für Entwickler und Prüfende",
  "start.reference": "API-Referenz",
  "start.queue": "Prüfungen",
  "problem.other.title": "Etwas ist schiefgegangen",
  "problem.tryAgain": "Erneut versuchen",
};
