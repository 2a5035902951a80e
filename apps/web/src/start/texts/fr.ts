import type { StartTexts } from "./en.ts";

export const fr: StartTexts = {
  "page.loading": "Chargement…",
  "start.title": "Des formulaires que les agents et les personnes remplissent ensemble",
  "start.text":
    "Ce serveur recueille les réponses à des formulaires. Un agent d’IA remplit ce qu’il sait et envoie un lien ; une personne complète le reste.",
  "start.forms": "Formulaires ouverts",
  "start.none": "Aucun formulaire n’est ouvert à tous.",
  "start.developers": "Pour les développeurs et les valideurs",
  "start.reference": "Référence de l’API",
  "start.queue": "Validations à faire",
  "problem.other.title": "Une erreur s’est produite",
  "problem.tryAgain": "Réessayer",
};
