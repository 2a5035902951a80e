import { expect } from "vitest";
import { idempotencyKey } from "../../support/moves.ts";
import { DAY } from "../../support/submissions.ts";
import { COMPLETE } from "../intakes.ts";
import type { Scene } from "../stage.ts";

/** One agent, alone with its form. */
export const fillingScenes: Scene[] = [
  {
    name: "an agent starts with what it knows, sees what is missing, fills it in and submits",
    intakeId: "supplier",
    async play({ does, lookInto }) {
      const made = await does("create", { fields: { company: "Acme" } });
      const first = await does("set", { resumeToken: made.resumeToken, fields: { country: "FR", employees: 12 } });
      const checked = await does("validate", { resumeToken: first.resumeToken });
      expect([checked.ready, checked.state]).toEqual([false, "awaiting_input"]);
      const second = await does("set", {
        resumeToken: checked.resumeToken,
        fields: { "contact.email": "ada@example.com", sites: [{ city: "Paris" }, { city: "Lyon" }] },
      });
      const ready = await does("validate", { resumeToken: second.resumeToken });
      expect(ready.ready).toBe(true);
      const done = await does("submit", { resumeToken: ready.resumeToken, idempotencyKey: idempotencyKey("first") });
      expect(done.state).toBe("finalized");
      await does("events", { resumeToken: done.resumeToken });
      await lookInto(made.submissionId);
    },
  },
  {
    name: "an agent pauses for days and continues with nothing but its token",
    intakeId: "supplier",
    async play({ server, does, comesBack, lookInto }) {
      const made = await does("create", { fields: { company: "Acme", note: "to be continued" } });
      server.clock.advance(5 * DAY);
      await comesBack();
      const found = await does("status", { resumeToken: made.resumeToken });
      expect(found.fields).toEqual({ company: "Acme", note: "to be continued" });
      const set = await does("set", { resumeToken: found.resumeToken, fields: { ...COMPLETE, note: null } });
      server.clock.advance(DAY);
      await comesBack();
      const done = await does("submit", { resumeToken: set.resumeToken, idempotencyKey: idempotencyKey("days") });
      expect([done.state, done.fields]).toEqual(["finalized", COMPLETE]);
      await lookInto(made.submissionId);
    },
  },
  {
    name: "an agent's mistakes are reported field by field, and corrected",
    intakeId: "supplier",
    async play({ does, isRefused, lookInto }) {
      const made = await does("create", { fields: { ...COMPLETE, country: "XX", employees: -1 } });
      const key = idempotencyKey("too-early");
      const refused = await isRefused("invalid", "submit", { resumeToken: made.resumeToken, idempotencyKey: key });
      const wrong = (refused.error.fields as { path: string }[]).map(({ path }) => path);
      expect(wrong).toEqual(expect.arrayContaining(["country", "employees"]));
      const { resumeToken } = await does("status", { resumeToken: refused.resumeToken ?? made.resumeToken });
      const set = await does("set", { resumeToken, fields: { country: "NL", employees: 3, contact: null } });
      const missing = await isRefused("missing", "submit", {
        resumeToken: set.resumeToken,
        idempotencyKey: idempotencyKey("still-too-early"),
      });
      expect(missing.error.nextActions.map((next: { field?: string }) => next.field)).toContain("contact");
      const again = await does("status", { resumeToken: missing.resumeToken ?? set.resumeToken });
      const full = await does("set", {
        resumeToken: again.resumeToken,
        fields: { contact: { email: "a@example.com" } },
      });
      const done = await does("submit", { resumeToken: full.resumeToken, idempotencyKey: idempotencyKey("in-time") });
      expect(done.state).toBe("finalized");
      await lookInto(made.submissionId);
    },
  },
  {
    name: "fields that the schema doesn't have are refused, and sensitive values are masked",
    intakeId: "supplier",
    async play({ does, act, lookInto }) {
      const made = await does("create", { fields: { company: "Acme", secret: "hush" } });
      await act("set", { resumeToken: made.resumeToken, fields: { unheard: "of", employees: 5 } });
      const { events } = await does("events", { resumeToken: made.resumeToken });
      expect(JSON.stringify(events)).not.toContain("hush");
      await lookInto(made.submissionId);
    },
  },
  {
    name: "an agent announces a file, sends it and confirms it",
    intakeId: "certified",
    async play({ does, isRefused, lookInto }) {
      const pdf = Buffer.from("%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< >>\n%%EOF\n");
      const made = await does("create", { fields: { company: "Acme" } });
      const announced = await does("upload", {
        resumeToken: made.resumeToken,
        field: "certificate",
        filename: "certificate.pdf",
        mimeType: "application/pdf",
        sizeBytes: pdf.length,
      });
      const early = { resumeToken: announced.resumeToken, idempotencyKey: idempotencyKey("no-file-yet") };
      const { resumeToken } = await isRefused("upload_pending", "submit", early);
      const { url, method, headers } = announced;
      expect((await fetch(url, { method, headers, body: pdf })).status).toBeLessThan(300);
      const confirmed = await does("confirm", {
        resumeToken: resumeToken ?? announced.resumeToken,
        uploadId: announced.uploadId,
      });
      const key = idempotencyKey("with-file");
      const done = await does("submit", { resumeToken: confirmed.resumeToken, idempotencyKey: key });
      expect(done.state).toBe("finalized");
      await lookInto(made.submissionId);
    },
  },
];
