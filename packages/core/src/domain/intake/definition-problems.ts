import type { FieldError } from "@formbridge/contract";

/** Everything that is wrong with a definition, by path. */
export class Problems {
  readonly list: FieldError[] = [];

  add(at: readonly string[], says: string, code: FieldError["code"] = "invalid_value"): void {
    const path = at.join(".");
    this.list.push({ path, code, message: `${path === "" ? "the definition" : path} ${says}` });
  }
}

/** Adds what is wrong with the shape of a part of the definition. */
export type ShapeCheck = (value: unknown, at: readonly string[], problems: Problems) => void;
