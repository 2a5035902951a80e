import type { StartTexts } from "./en.ts";

export const pt: StartTexts = {
  "page.loading": "Carregando…",
  "start.title": "Formulários que agentes e pessoas preenchem em conjunto",
  "start.text":
    "Este servidor recolhe respostas para formulários. Um agente de IA preenche o que sabe e envia um link; uma pessoa completa o resto.",
  "start.forms": "Formulários abertos",
  "start.none": "Não há nenhum formulário aberto a todos.",
  "start.developers": "Para programadores e revisores",
  "start.reference": "Referência da API",
  "start.queue": "Fila de revisão",
  "problem.other.title": "Algo deu errado",
  "problem.tryAgain": "Tentar novamente",
};
