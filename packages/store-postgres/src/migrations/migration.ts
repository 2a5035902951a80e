/** One step of the schema. Never changed once released: the next step corrects it. */
export interface Migration {
  id: number;
  name: string;
  sql: string;
}
