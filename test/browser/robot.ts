import type { Locator, Page } from "playwright-core";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const quoted = (path: readonly (string | number)[]): string => JSON.stringify(path.join("."));

/** Fills in a form as a person does: it finds the control for a path, and uses it. */
export class Robot {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  at(path: readonly (string | number)[]): Locator {
    return this.#page.locator(`[data-path=${quoted(path)}]`).first();
  }

  async fillIn(value: unknown, path: readonly (string | number)[]): Promise<void> {
    const field = this.at(path);
    await field.waitFor();
    if (Array.isArray(value) && (await field.getAttribute("data-list")) !== null) {
      await this.#fillList(value, path, field);
    } else if (isObject(value) && !("kind" in value && (await this.#hasKinds(field)))) {
      await this.#fillGroup(value, path);
    } else if (isObject(value)) {
      await this.#chooseKind(field, String(value.kind));
      const { kind: _kind, ...rest } = value;
      await this.#fillGroup(rest, path);
    } else await this.#fillControl(field, value);
  }

  async #fillList(values: readonly unknown[], path: readonly (string | number)[], field: Locator): Promise<void> {
    for (const [index, value] of values.entries()) {
      const item = this.at([...path, index]);
      if (!(await item.isVisible())) await field.locator(":scope > .fb-fields > div > [data-add]").click();
      await this.fillIn(value, [...path, index]);
    }
  }

  async #fillGroup(members: Record<string, unknown>, path: readonly (string | number)[]): Promise<void> {
    for (const [name, member] of Object.entries(members)) {
      if (!(await this.at([...path, name]).isVisible())) await this.#open(path, name);
      await this.fillIn(member, [...path, name]);
    }
  }

  /** A field that doesn't exist yet: of a recursive schema, an entry to be named, or one that appears later. */
  async #open(path: readonly (string | number)[], name: string): Promise<void> {
    const folded = this.#page.locator(`[data-open=${quoted([...path, name])}]`);
    const entries = this.#page.locator(`[data-entries=${quoted(path)}]`);
    if (await folded.isVisible()) await folded.click();
    else if (await entries.isVisible()) {
      await entries.locator(":scope > [data-add]").click();
      const box = entries.getByLabel("Name of the entry").last();
      await box.fill(name);
      await box.blur();
    }
  }

  async #hasKinds(field: Locator): Promise<boolean> {
    return (await field.locator(":scope > .fb-fields > .fb-variants").count()) > 0;
  }

  async #chooseKind(field: Locator, kind: string): Promise<void> {
    const kinds = field.locator(":scope > .fb-fields > .fb-variants > .fb-field").first();
    await kinds.getByLabel(kind, { exact: true }).check();
  }

  async #fillControl(field: Locator, value: unknown): Promise<void> {
    const label = value === true ? "Yes" : value === false ? "No" : String(value);
    if (Array.isArray(value)) return await this.#fillChoices(field, value);
    const control = field.locator("input, select, textarea").first();
    const type = await control.getAttribute("type");
    if (type === "radio") return await field.getByLabel(label, { exact: true }).check();
    if (type === "checkbox") return await control.check();
    if ((await control.getAttribute("role")) === "combobox") return await this.#search(control, label);
    if ((await control.evaluate((element) => element.tagName)) === "SELECT") {
      await control.selectOption({ label });
      return;
    }
    await control.fill(shownIn(type, label));
    await control.blur();
  }

  async #fillChoices(field: Locator, values: readonly unknown[]): Promise<void> {
    const search = field.getByRole("combobox");
    for (const value of values) {
      if ((await search.count()) > 0) await this.#search(search, String(value));
      else await field.getByLabel(String(value), { exact: true }).check();
    }
    if ((await search.count()) > 0) await search.press("Escape");
  }

  async #search(box: Locator, label: string): Promise<void> {
    await box.fill(label);
    await this.#page.locator(".fb-list:not([hidden]) [role=option]").filter({ hasText: label }).first().click();
  }
}

/** What a native control shows of a value. The browser's clock is in UTC. */
function shownIn(type: string | null, text: string): string {
  if (type === "datetime-local") return text.slice(0, 16);
  return type === "time" ? text.slice(0, 5) : text;
}
