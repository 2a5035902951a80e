/** How much a client wants each media range that `Accept` names, from 0 (not at all) to 1. */
export function parseAccept(header = ""): ReadonlyMap<string, number> {
  return new Map(
    header.split(",").map((text) => {
      const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return [range, weight === undefined ? 1 : Number(weight.slice("q=".length))];
    }),
  );
}
