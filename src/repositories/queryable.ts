/** A statement with a name is parsed and planned once per connection; names are unique in the service. */
export interface Statement {
  name?: string;
  text: string;
  /** Whether it returns `raised_id` (see relation-versions.ts). */
  raisesVersions?: boolean;
}

/** A statement whose parameters were written by name, in the order of their positions in `text`. */
export interface NamedStatement extends Statement {
  parameters: readonly string[];
}

/** A pool or one open transaction. Values are sent separately from the text, never inside it. */
export interface Queryable {
  query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/**
 * A prepared statement. `text` has parameters by name (`:agent_id`) or, where they are few, by position (`$1`). Arrays with their type
 * (`:ids::text[]`) are hidden from the planner.
 */
export function statement(name: string, text: string): NamedStatement {
  const hide = (_: string, parameter: string, type: string) => hideFromPlanner(parameter, type);
  return { name, ...compile(text.replace(typedArrays, hide)) };
}

const typedArrays = /(:[a-z_]\w*)::(\w+\[\])/g;

/** A statement that is planned on each call, for its values: where the best plan depends on them. */
export function unpreparedStatement(text: string): NamedStatement {
  return compile(text);
}

/** Colons that are not parameters come first: in quoted text, casts and `:=`. */
const colons = /'(?:[^']|'')*'|"[^"]*"|(\$(?:[a-z_]\w*)?\$)[^]*?\1|::|:=|:(?<name>[a-z_]\w*)/gi;

/** Replaces each `:name` by its position, which is the order of first appearance. */
function compile(source: string): Omit<NamedStatement, 'name'> {
  const parameters = new Map<string, string>();
  const text = source.replace(colons, (token, _quote, name?: string) => {
    if (name === undefined) return token;
    if (!parameters.has(name)) parameters.set(name, `$${parameters.size + 1}`);
    return parameters.get(name) ?? token;
  });
  if (parameters.size > 0 && /\$\d/.test(source)) throw new Error(`names and positions are mixed: ${source}`);
  const raises = /\braised_id\b/.test(text);
  return { text, parameters: [...parameters.keys()], ...(raises && { raisesVersions: true }) };
}

/**
 * The values of named parameters, in the order of their positions.
 * @throws when a value is missing, or one is given that the statement does not use.
 */
export function bind(
  { name = 'statement', parameters, text }: NamedStatement,
  values: Readonly<Record<string, unknown>>,
): unknown[] {
  const names = Object.keys(values);
  if (names.length !== parameters.length || parameters.some((parameter) => !Object.hasOwn(values, parameter)))
    throw new Error(`${name} takes ${parameters.join(', ')}; received ${names.join(', ')}: ${text}`);
  return parameters.map((parameter) => values[parameter]);
}

/** Runs a statement with its values by name. */
export function query<Row extends object>(
  db: Queryable,
  named: NamedStatement,
  values: Readonly<Record<string, unknown>>,
): Promise<Row[]> {
  return db.query<Row>(named, bind(named, values));
}

/**
 * Hides a value from the planner. PostgreSQL keeps one plan for a named statement only when plans for the actual values do not promise to
 * be cheaper. Plans for one element or one partition always promise that, and planning on each call costs more than they save. For
 * statements whose best plan is the same for all values.
 */
export function hideFromPlanner(parameter: string, type: string): string {
  return `(select ${parameter}::${type})::${type}`;
}

/** The SQLSTATE of the function `fail_concurrent_change`, in a class that PostgreSQL does not use. */
export const concurrentChangeState = 'AM001';

/** An expression that fails the statement, and so its transaction, with ConcurrentChange unless the condition is true. */
export function requireTrue(condition: string): string {
  return `case when ${condition} then 1 else fail_concurrent_change() end`;
}

/**
 * In the FROM list of a statement that is a transaction of its own: its commit does not wait for the disk. For work that is repeated if the
 * database loses it in a crash. A crash loses only the newest commits.
 */
export const unflushedCommit = `(select set_config('synchronous_commit', 'off', true)) unflushed`;
