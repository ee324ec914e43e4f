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
export function unpreparedStatement(text: string): Statement {
  return { text };
}

/**
 * A value that the planner does not see. A statement with a name gets one plan for good only when plans made for its values promise to be
 * no cheaper; those for one element, or for one partition, always do, and were then made anew at each call, which took longer than
 * what they saved. For statements whose best way is the same for all values.
 */
export function hideFromPlanner(parameter: string, type: string): string {
  return `(select ${parameter}::${type})::${type}`;
}
