import type { StartTexts } from "./en.ts";

export const he: StartTexts = {
  "page.loading": "בטעינה…",
  "start.title": "טפסים שסוכנים ואנשים ממלאים יחד",
  "start.text": "השרת הזה אוסף תשובות לטפסים. סוכן בינה מלאכותית ממלא את מה שהוא יודע ושולח קישור; אדם משלים את השאר.",
  "start.forms": "טפסים פתוחים",
  "start.none": "אין טופס שפתוח לכולם.",
  "start.developers": "למפתחים ולבודקים",
  "start.reference": "תיעוד ה-API",
  "start.queue": "תור הבדיקה",
  "problem.other.title": "משהו השתבש",
  "problem.tryAgain": "ניסיון נוסף",
};
