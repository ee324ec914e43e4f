/** A statement that the server parses and plans once for each connection; `name` must be unique over the service. */
export interface Statement {
  name: string;
  text: string;
}

/** What repositories are bound to: the pool, or one open transaction. Values travel beside the text, never inside it. */
export interface Queryable {
  query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

export function statement(name: string, text: string): Statement {
  return { name, text };
}
