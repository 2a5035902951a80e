import Type, { type TObject, type TObjectOptions, type TProperties } from "typebox";

/** An object that may have no other members. */
export const closedObject = <Properties extends TProperties>(
  properties: Properties,
  options?: TObjectOptions,
): TObject<Properties> => Type.Object(properties, { additionalProperties: false, ...options });
