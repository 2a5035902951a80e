import type { StartTexts } from "./en.ts";

export const ja: StartTexts = {
  "page.loading": "読み込み中…",
  "start.title": "エージェントと人が一緒に記入するフォーム",
  "start.text": "エージェントがわかる項目を記入してリンクを送り、残りを人が記入します。",
  "start.forms": "フォーム",
  "start.none": "公開されているフォームはありません。",
  "start.developers": "開発者・確認者向け",
  "start.reference": "API リファレンス",
  "start.queue": "確認待ち一覧",
  "problem.other.title": "問題が発生しました",
  "problem.tryAgain": "もう一度試す",
};
