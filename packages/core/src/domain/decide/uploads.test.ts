import type { Actor } from "@formbridge/contract";
import { describe, expect, it } from "vitest";
import { given, type Scene } from "../../../test/given.ts";
import type { Submission } from "../submission.ts";
import { decideAbandonUpload } from "./abandon-upload.ts";
import { type Arrived, decideConfirmUpload } from "./confirm-upload.ts";
import { decideRequestUpload } from "./request-upload.ts";
import { decideSetFields } from "./set-fields.ts";
import { decideSubmit } from "./submit.ts";
import { decideValidate } from "./validate.ts";

const submit: Parameters<Scene["when"]>[0] = (submission, context) => decideSubmit(submission, {}, context);

const rule = { accept: ["application/pdf"], maxBytes: 1000 };
const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    w9: { "x-file": rule },
    id: { "x-file": rule },
    docs: { "x-file": { ...rule, maxFiles: 2 } },
    deed: { "x-file": rule, "x-fill": "human" },
    scan: { "x-file": rule, "x-fill": "agent" },
  },
};
const pdf = (field: string) => ({ field, filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 3 });
const arrived: Arrived = {
  sizeBytes: 3,
  sha256: "ab".repeat(32),
  content: { magic: "application/pdf", isText: false },
};
const human: Actor = { kind: "human", id: "ada", proof: "key" };

const request = (field: string) => (submission: Submission, context: Parameters<typeof decideRequestUpload>[2]) =>
  decideRequestUpload(submission, pdf(field), context);
const last = ({ submission }: Scene): string => submission.uploads.at(-1)?.uploadId ?? "";
const confirm = (uploadId: string, found: Arrived | undefined = arrived) =>
  ((submission, context) => decideConfirmUpload(submission, { uploadId, arrived: found }, context)) as Parameters<
    Scene["when"]
  >[0];
const abandon = (uploadId: string) =>
  ((submission, context) => decideAbandonUpload(submission, uploadId, context)) as Parameters<Scene["when"]>[0];
const set = (fields: Record<string, unknown>) =>
  ((submission, context) => decideSetFields(submission, { fields }, context)) as Parameters<Scene["when"]>[0];

/** A submission with one confirmed upload for w9. */
function confirmed(): Scene & { uploadId: string } {
  const asked = given({ schema }).when(request("w9"));
  const uploadId = last(asked);
  return { ...asked.when(confirm(uploadId)), uploadId };
}

describe("announcing and confirming", () => {
  it("[UPLOADS-WALK] a file is announced for a list of files, not for one place in it", () => {
    const scene = given({ schema }).when(request("docs.0"));
    expect(scene.decision.refusal?.detail.fields).toMatchObject([{ path: "docs.0", code: "invalid_value" }]);
    expect(scene.submission.uploads).toEqual([]);
  });

  it("[STATES-UPLOADS] announcing a file enters awaiting_upload and rotates the token", () => {
    const { submission, events } = given({ schema }, { name: "Ada" }).when(request("w9"));
    expect(submission).toMatchObject({ state: "awaiting_upload", version: 2 });
    expect(submission.uploads).toMatchObject([{ uploadId: expect.stringMatching(/^upl_/), field: "w9" }]);
    expect(events).toEqual(["upload.requested"]);
  });

  it("[STATES-UPLOADS] confirming the last file leaves it, not the one before", () => {
    const both = given({ schema }).when(request("w9")).when(request("id"));
    const [first = "", second = ""] = both.submission.uploads.map((upload) => upload.uploadId);
    const one = both.when(confirm(first));
    expect(one.submission).toMatchObject({ state: "awaiting_upload", version: 4 });
    const two = one.when(confirm(second));
    expect(two.submission).toMatchObject({ state: "in_progress", version: 5 });
    expect(two.events).toEqual(["upload.completed"]);
  });

  it("[UPLOADS-WALK] files of a list stay in the order they were announced in, whichever arrives first", () => {
    const both = given({ schema }).when(request("docs")).when(request("docs"));
    const [first = "", second = ""] = both.submission.uploads.map(({ uploadId }) => uploadId);
    const { submission } = both.when(confirm(second)).when(confirm(first));
    expect(submission.fields.docs).toMatchObject([{ uploadId: first }, { uploadId: second }]);
    const inOrder = both.when(confirm(first)).when(confirm(second));
    expect(inOrder.submission.fields.docs).toMatchObject([{ uploadId: first }, { uploadId: second }]);
  });

  it("[STATES-UPLOADS] setting other fields meanwhile does not confirm the file", () => {
    expect(
      given({ schema })
        .when(request("w9"))
        .when(set({ name: "Ada" })).submission.state,
    ).toBe("awaiting_upload");
  });

  it("[STATES-UPLOADS] a file that did not arrive can't be confirmed", () => {
    const asked = given({ schema }).when(request("w9"));
    const { decision, submission } = asked.when((s, c) =>
      decideConfirmUpload(s, { uploadId: last(asked), arrived: undefined }, c),
    );
    expect(decision.refusal?.type).toBe("upload_pending");
    expect(submission).toEqual(asked.submission);
  });

  const mismatches: [string, Partial<Arrived>, string][] = [
    ["more bytes", { sizeBytes: 4 }, "file_too_large"],
    ["fewer bytes", { sizeBytes: 2 }, "custom"],
    ["another type", { content: { isText: true, markup: "html" } }, "file_wrong_type"],
  ];
  it.each(mismatches)(
    "[STATES-UPLOADS] %s than announced: reported, and the upload is removed",
    (_name, found, code) => {
      const asked = given({ schema }).when(request("w9"));
      const { decision, submission, events } = asked.when(confirm(last(asked), { ...arrived, ...found }));
      expect(decision.refusal).toMatchObject({ type: "invalid", detail: { fields: [{ path: "w9", code }] } });
      expect(events).toEqual(["upload.failed"]);
      expect(submission).toMatchObject({ state: "in_progress", version: 2, uploads: [], fields: {} });
    },
  );

  it("[STATES-SUBMIT-REASON] a pending file is upload_pending when nothing is missing", () => {
    const asked = given({ schema }, { name: "Ada" }).when(request("w9"));
    const { decision, submission } = asked.when(submit);
    expect(decision.refusal).toMatchObject({ type: "upload_pending", detail: { fields: [{ path: "w9" }] } });
    expect(submission).toMatchObject({ state: "awaiting_upload", version: asked.submission.version });
  });

  it("[STATES-SUBMIT-REASON] an absent required file is missing, with a code of its own", () => {
    const { decision } = given({ schema: { ...schema, required: ["w9"] } }, { name: "Ada" }).when(submit);
    expect(decision.refusal).toMatchObject({
      type: "missing",
      detail: {
        fields: [{ path: "w9", code: "file_required" }],
        nextActions: [{ action: "request_upload", field: "w9" }],
      },
    });
  });

  it("[STATES-VALIDATE-RECORDS] validate finds a pending file, and keeps the version", () => {
    const asked = given({ schema }, { name: "Ada" }).when(request("w9"));
    const checked = asked.when(decideValidate);
    expect(checked.submission).toMatchObject({ state: "awaiting_upload", version: asked.submission.version });
    expect(checked.events).toEqual(["validation.failed"]);
  });
});

describe("who announces", () => {
  it("[FIELDS-HUMAN-ONLY] a human-only file can be announced by an identified human", () => {
    const scene = given({ schema });
    expect(scene.when(request("deed")).decision.refusal?.type).toBe("invalid");
    expect(scene.when(request("deed"), { kind: "human", id: "ada", declared: true }).decision.refusal?.type).toBe(
      "invalid",
    );
    expect(scene.when(request("deed"), human).decision.refusal).toBeUndefined();
  });

  it("[FIELDS-AGENT-ONLY] an agent-only file can't be announced by a human", () => {
    const scene = given({ schema });
    expect(scene.when(request("scan"), human).decision.refusal?.type).toBe("invalid");
    expect(scene.when(request("scan")).decision.refusal).toBeUndefined();
  });
});

describe("attaching", () => {
  const reference = { filename: "a.pdf", mimeType: "application/pdf", sizeBytes: 3, sha256: arrived.sha256 };

  it("[FIELDS-FILE-ATTACH] confirming sets the checked reference, and who set it", () => {
    const { submission, uploadId } = confirmed();
    expect(submission.fields).toEqual({ w9: { uploadId, ...reference } });
    expect(submission.attribution.paths).toEqual({ w9: 3 });
    expect(submission.attribution.writes[3]?.actor.id).toBe("bot");
  });

  it("[FIELDS-FILE-ATTACH] { uploadId } of a confirmed upload brings a removed file back", () => {
    const { when, uploadId } = confirmed();
    const removed = when(set({ w9: null }));
    expect(removed.submission.fields).toEqual({});
    const attached = removed.when(set({ w9: { uploadId } }));
    expect(attached.decision.refusal).toBeUndefined();
    expect(attached.submission.fields).toEqual({ w9: { uploadId, ...reference } });
  });

  it("[FIELDS-FILE-ATTACH] the list of a field with several files takes several, by whole list or by index", () => {
    const asked = given({ schema }).when(request("docs")).when(request("docs"));
    const [one = "", two = ""] = asked.submission.uploads.map((upload) => upload.uploadId);
    const both = asked.when(confirm(one)).when(confirm(two));
    expect(both.submission.fields.docs).toMatchObject([{ uploadId: one }, { uploadId: two }]);
    const kept = both.when(set({ docs: [{ uploadId: two }] }));
    expect(kept.submission.fields.docs).toMatchObject([{ uploadId: two, ...reference }]);
    const added = kept.when(set({ "docs.1": { uploadId: one } }));
    expect(added.decision.refusal).toBeUndefined();
    expect(added.submission.fields.docs).toMatchObject([{ uploadId: two }, { uploadId: one, ...reference }]);
  });

  it("[FIELDS-FILE-ATTACH] an upload that is not confirmed, or of another submission, attaches nothing", () => {
    const asked = given({ schema }).when(request("w9"));
    for (const uploadId of [last(asked), "upl_of_somebody_else"]) {
      const { decision, submission } = asked.when(set({ w9: { uploadId } }));
      expect(decision.refusal).toMatchObject({ type: "invalid", detail: { fields: [{ path: "w9" }] } });
      expect(submission).toEqual(asked.submission);
    }
  });

  it("[FIELDS-FILE-FORGED] a genuine reference with one changed word is refused", () => {
    const { when, submission, uploadId } = confirmed();
    const changes = [
      { filename: "b.pdf" },
      { sha256: "cd".repeat(32) },
      { sizeBytes: 1 },
      { url: "https://evil.invalid" },
    ];
    for (const change of changes) {
      const forged = when(set({ w9: { uploadId, ...reference, ...change } }));
      expect(forged.decision.refusal?.type).toBe("invalid");
      expect(forged.submission).toEqual(submission);
    }
  });
});

describe("superseding and abandoning", () => {
  it("[AUDIT-F2] a newer announcement for a single-file field supersedes the older one", () => {
    const first = given({ schema }).when(request("w9"));
    const older = last(first);
    const second = first.when(request("w9"));
    const newer = last(second);
    expect(second.events).toEqual(["upload.abandoned", "upload.requested"]);
    expect(second.submission.uploads).toMatchObject([{ uploadId: newer, supersedes: [older] }]);
    const late = second.when(confirm(older)).decision.refusal;
    expect(late?.type).toBe("conflict");
    expect(late?.message).toContain(newer);
    expect(late?.detail.nextActions).toMatchObject([{ action: "request_upload", field: "w9", uploadId: newer }]);
    expect(second.when(confirm(newer)).submission.state).toBe("in_progress");
  });

  it("[AUDIT-F2] a hundred announcements for one field leave one upload behind", () => {
    let scene = given({ schema }).when(request("w9"));
    for (let count = 1; count < 100; count++) scene = scene.when(request("w9"));
    expect(scene.submission.uploads).toHaveLength(1);
    expect(scene.submission.uploads[0]?.supersedes).toHaveLength(20);
  });

  it("[AUDIT-F2] announcements for other fields, and for lists of files, supersede nothing", () => {
    const scene = given({ schema }).when(request("w9")).when(request("id")).when(request("docs")).when(request("docs"));
    expect(scene.submission.uploads).toHaveLength(4);
  });

  it("[UPLOADS-ABANDON] the last pending upload that is abandoned leaves awaiting_upload", () => {
    const both = given({ schema }).when(request("w9")).when(request("id"));
    const [one = "", two = ""] = both.submission.uploads.map(({ uploadId }) => uploadId);
    const first = both.when(abandon(one));
    expect(first.events).toEqual(["upload.abandoned"]);
    expect(first.submission).toMatchObject({ state: "awaiting_upload", version: both.submission.version + 1 });
    expect(first.when(abandon(two)).submission).toMatchObject({ state: "in_progress", uploads: [] });
  });

  it("[UPLOADS-ABANDON] neither an unknown nor a confirmed upload is abandoned", () => {
    const { when, uploadId } = confirmed();
    expect(when(abandon("upl_nobody")).decision.refusal?.type).toBe("not_found");
    expect(when(abandon(uploadId)).decision.refusal?.type).toBe("conflict");
  });
});

describe("what is missing besides announced files", () => {
  const strict = { ...schema, required: ["name", "w9"] };

  it("[AUDIT-F3] all that is missing are announced files: upload_pending, each path once, with its uploadId", () => {
    const asked = given({ schema: strict }, { name: "Ada" }).when(request("w9"));
    const { decision, submission } = asked.when(submit);
    expect(decision.refusal?.type).toBe("upload_pending");
    expect(decision.refusal?.detail.fields?.map(({ path }) => path)).toEqual(["w9"]);
    expect(decision.refusal?.detail.nextActions).toMatchObject([
      { action: "request_upload", field: "w9", uploadId: last(asked), hint: expect.stringContaining(last(asked)) },
    ]);
    expect(submission.state).toBe("awaiting_upload");
    expect(asked.when(decideValidate).submission.state).toBe("awaiting_upload");
  });

  it("[AUDIT-F3] other missing fields are reported first, and the announced file with them", () => {
    const asked = given({ schema: strict }).when(request("w9"));
    const { decision, submission } = asked.when(submit);
    expect(decision.refusal).toMatchObject({ type: "missing", message: "Required: name." });
    expect(decision.refusal?.detail.fields?.map(({ path }) => path)).toEqual(["name", "w9"]);
    expect(submission.state).toBe("awaiting_input");
  });

  it("[AUDIT-F3] a setFields while a file is pending leads back to awaiting_upload", () => {
    const refused = given({ schema: strict }).when(request("w9")).when(submit);
    expect(refused.submission.state).toBe("awaiting_input");
    expect(refused.when(set({ name: "Ada" })).submission.state).toBe("awaiting_upload");
  });

  it("[AUDIT-F3] a required object is not missing when its only required member was announced", () => {
    const nested = { type: "object", properties: { w9: { "x-file": rule } }, required: ["w9"] };
    const outer = { type: "object", properties: { papers: nested }, required: ["papers"] };
    const { decision } = given({ schema: outer }).when(request("papers.w9")).when(submit);
    expect(decision.refusal).toMatchObject({ type: "upload_pending", detail: { fields: [{ path: "papers.w9" }] } });
  });

  it("[AUDIT-F3] a list of files waits for as many as it needs", () => {
    const docs = { "x-file": { ...rule, maxFiles: 3 }, minItems: 2 };
    const one = given({ schema: { type: "object", properties: { docs }, required: ["docs"] } }).when(request("docs"));
    expect(one.when(submit).decision.refusal?.type).toBe("upload_pending");
    expect(one.when(submit).submission.state).toBe("awaiting_input");
    const two = one.when(request("docs")).when(submit);
    expect(two.submission.state).toBe("awaiting_upload");
    expect(two.decision.refusal?.detail.fields?.map(({ path }) => path)).toEqual(["docs"]);
    expect(two.decision.refusal?.detail.nextActions).toHaveLength(2);
  });
});

describe("files without a place", () => {
  const list = { type: "array", items: { type: "object", properties: { receipt: { "x-file": rule } } } };
  const listed = { type: "object", properties: { name: { type: "string" }, list, docs: schema.properties.docs } };

  it("[AUDIT-F37] an item beyond the next one of its list is refused at announcement", () => {
    const scene = given({ schema: listed });
    for (const field of ["list.5.receipt", "list.1.receipt"]) {
      const { decision, submission } = scene.when(request(field));
      expect(decision.refusal).toMatchObject({ type: "invalid", detail: { fields: [{ path: field }] } });
      expect(decision.refusal?.detail.nextActions?.length).toBeGreaterThan(0);
      expect(submission.uploads).toEqual([]);
    }
    expect(scene.when(request("list.0.receipt")).decision.refusal).toBeUndefined();
    expect(scene.when(request("list.0.receipt")).when(request("list.1.receipt")).decision.refusal).toBeUndefined();
  });

  describe("an upload that is pending for an item of a list", () => {
    const rows = (...names: string[]) => ({ list: names.map((name) => ({ name })) });
    const waiting = (at: number, ...names: string[]) =>
      given({ schema: listed }, rows(...names)).when(request(`list.${at}.receipt`));
    const placed = (scene: Scene) => {
      const { list } = scene.when(confirm(last(scene))).submission.fields as { list: Record<string, unknown>[] };
      return list.map(({ name, receipt }) => `${name ?? "new"}${receipt === undefined ? "" : " with receipt"}`);
    };

    it.each([
      ["an item before it is removed by its path", { "list.0": null }, ["b with receipt", "c"]],
      ["an item before it is removed with the list", rows("b", "c"), ["b with receipt", "c"]],
      ["the list is reordered", rows("c", "b", "a"), ["c", "b with receipt", "a"]],
      ["an item is added before it", rows("z", "a", "b", "c"), ["z", "a", "b with receipt", "c"]],
      ["its item is changed", { "list.1.name": "B" }, ["a", "B with receipt", "c"]],
      ["its item is changed and one behind it removed", rows("a", "B"), ["a", "B with receipt"]],
      ["other fields are set", { name: "x" }, ["a", "b with receipt", "c"]],
    ])("follows it when %s", (_, change, expected) => {
      expect(placed(waiting(1, "a", "b", "c").when(set(change)))).toEqual(expected);
    });

    it.each([
      ["it is filled in", { "list.1.name": "b" }, ["a", "b with receipt"]],
      ["the other one is filled in", { "list.0.name": "b" }, ["b", "a with receipt"]],
      ["the other one is removed", { "list.0": null }, ["a with receipt"]],
    ])("is not confused by an equal item when %s", (_, change, expected) => {
      expect(placed(waiting(1, "a", "a").when(set(change)))).toEqual(expected);
    });

    it("stays for the next item when the list gets shorter", () => {
      expect(placed(waiting(2, "a", "b").when(set(rows("a"))))).toEqual(["a", "new with receipt"]);
    });

    it.each([
      ["by its path", { "list.1": null }],
      ["with the list", rows("a", "c")],
      ["with all of the list", { list: null }],
    ])("is abandoned when its item is removed %s", (_, change) => {
      const { events, submission } = waiting(1, "a", "b", "c").when(set(change));
      expect(events).toEqual(["field.updated", "upload.abandoned"]);
      expect(submission).toMatchObject({ state: "in_progress", uploads: [] });
    });
  });

  it("names that no field may have are refused with the true reason", () => {
    const open = { type: "object", properties: { map: { type: "object", additionalProperties: { "x-file": rule } } } };
    const { decision } = given({ schema: open }).when(request("map.__proto__"));
    expect(decision.refusal?.message).toBe(
      "The file can't be placed: __proto__ isn't allowed as a field name. Use another one.",
    );
  });

  it("[AUDIT-F37] a path that is not a file field is refused with a list of those that are", () => {
    const { decision } = given({ schema: listed }).when(request("nope"));
    expect(decision.refusal?.detail.nextActions).toMatchObject([
      { action: "request_upload", field: "docs" },
      { action: "request_upload", field: "list.0.receipt" },
    ]);
  });

  it("[AUDIT-F37] more files than a list accepts are refused at announcement", () => {
    const one = given({ schema }).when(request("docs"));
    const two = one.when(confirm(last(one))).when(request("docs"));
    const third = two.when(request("docs")).decision.refusal;
    expect(third).toMatchObject({ type: "invalid", detail: { fields: [{ path: "docs", code: "too_long" }] } });
    expect(third?.detail.nextActions).toMatchObject([{ uploadId: last(two) }, { action: "collect_field" }]);
    expect(two.when(abandon(last(two))).when(request("docs")).decision.refusal).toBeUndefined();
  });

  it("[AUDIT-F37] a confirmed upload that is moved to another field is refused with the true reason", () => {
    const { when, uploadId } = confirmed();
    const { decision } = when(set({ id: { uploadId } }));
    expect(decision.refusal?.message).toContain(`${uploadId} was uploaded for w9 and can't be moved to id`);
    expect(decision.refusal?.detail.nextActions).toMatchObject([{ action: "request_upload", field: "id" }]);
  });

  it("an upload for a field whose name is a number can't be moved to a field with another number", () => {
    const byYear = { type: "object", properties: { "1": { "x-file": rule }, "2": { "x-file": rule } } };
    const forms = {
      type: "object",
      properties: { forms: byYear, list: { type: "array", items: { type: "object", properties: { years: byYear } } } },
    };
    const filled = given({ schema: forms }).when(set({ list: [{}, {}] }));
    for (const [place, other] of [
      ["forms.1", "forms.2"],
      ["list.0.years.1", "list.0.years.2"],
    ] as const) {
      const asked = filled.when(request(place));
      const uploadId = last(asked);
      const { when } = asked.when(confirm(uploadId));
      const { decision } = when(set({ [other]: { uploadId } }));
      expect(decision.refusal?.message).toContain(
        `${uploadId} was uploaded for ${place} and can't be moved to ${other}`,
      );
    }
    const asked = filled.when(request("list.0.years.1"));
    const uploadId = last(asked);
    const moved = asked.when(confirm(uploadId)).when(set({ "list.1.years.1": { uploadId } }));
    expect(moved.decision.refusal).toBeUndefined();
  });

  it("[AUDIT-F37] an upload that is attached before it is confirmed is refused with the true reason", () => {
    const asked = given({ schema }).when(request("w9"));
    const { decision } = asked.when(set({ w9: { uploadId: last(asked) } }));
    expect(decision.refusal?.message).toContain("is not confirmed");
  });
});
