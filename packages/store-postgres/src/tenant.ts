/**
 * Beside a submission's id: a check, and nothing to search by. Before the tables have statistics all their indexes that begin with the
 * tenant look alike to the planner, and it may choose one that reads all that the tenant has.
 */
export const isTenant = (column: string, tenant: string): string => `${column} || '' = ${tenant}`;
