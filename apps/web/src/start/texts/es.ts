import type { StartTexts } from "./en.ts";

export const es: StartTexts = {
  "page.loading": "Cargando…",
  "start.title": "Formularios que agentes y personas rellenan juntos",
  "start.text":
    "Este servidor recoge respuestas para formularios. Un agente de IA rellena lo que sabe y envía un enlace; una persona añade el resto.",
  "start.forms": "Formularios abiertos",
  "start.none": "No hay ningún formulario abierto a todo el mundo.",
  "start.developers": "Para desarrolladores y revisores",
  "start.reference": "Referencia de la API",
  "start.queue": "Cola de revisión",
  "problem.other.title": "Algo ha salido mal",
  "problem.tryAgain": "Intentar de nuevo",
};
