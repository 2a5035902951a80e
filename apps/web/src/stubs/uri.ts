/** References stay inside their schema: there are no URIs to resolve. */
export default {
  equal: (one: string, other: string): boolean => one === other,
  resolve: (_base: string, reference: string): string => reference,
};
