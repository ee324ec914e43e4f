/** With a name the server parses and plans it once for each connection; names must be unique over the service. */
export interface Statement {
  name?: string;
  text: string;
}

/** What repositories are bound to: the pool, or one open transaction. Values travel beside the text, never inside it. */
export interface Queryable {
  query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

export function statement(name: string, text: string): Statement {
  return { name, text };
}

/** A statement that is planned anew at each call, with its values: where the best way depends on them. */
export function plannedEachTime(text: string): Statement {
  return { text };
}
