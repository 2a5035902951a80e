import { type Schema, Validator } from "@cfworker/json-schema";
import { ID_KEY, type RJSFSchema, ROOT_SCHEMA_PREFIX, type ValidatorType, withIdRefPrefix } from "@rjsf/utils";

/**
 * Answers the engine's one question: does this value fit that schema? It decides which branch of a condition is drawn.
 * Whether a form is complete and right is the server's to say. Written without code generation, so it works under a
 * strict Content Security Policy.
 */
export function createValidator(): ValidatorType {
  const known = new WeakMap<object, Validator>();

  function validatorFor(schema: RJSFSchema, rootSchema: RJSFSchema): Validator {
    const found = known.get(schema);
    if (found !== undefined) return found;
    const validator = new Validator(withIdRefPrefix(schema) as Schema, "2020-12", true);
    validator.addSchema({ ...(rootSchema as Schema), [ID_KEY]: ROOT_SCHEMA_PREFIX }, ROOT_SCHEMA_PREFIX);
    known.set(schema, validator);
    return validator;
  }

  return {
    isValid: (schema, formData, rootSchema) => validatorFor(schema, rootSchema).validate(formData).valid,
    validateFormData: () => ({ errors: [], errorSchema: {} }),
    rawValidation: () => ({ errors: [] }),
  };
}
