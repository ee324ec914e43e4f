import { type NamedStatement, type Queryable, statement } from './queryable.ts';

/** A method of a repository, before it is given the pool or the transaction to run in. */
type Method<Args extends unknown[], Result> = (db: Queryable) => (...args: Args) => Promise<Result>;

/**
 * `signature` is the name of the prepared statement, with the names of the arguments: `'blocks.find(agent_id, key)'`. The name `...` is an
 * argument with a property for each of the remaining parameters; it can have other properties. Without a list, the method takes one
 * argument: the value of the only parameter, or `...` if there are several.
 *
 * `toValues` computes the values of the parameters from the arguments, by name. Its statement needs no list.
 */
type Definition<Args extends unknown[]> = [
  signature: string,
  text: string,
  toValues?: (...args: Args) => Readonly<Record<string, unknown>>,
];

/** Each defines a method by its arguments, its result and its SQL, with parameters by name (`:agent_id`). */
export const sql = {
  /** Returns all rows. */
  rows: <Args extends unknown[], Row extends object>(...definition: Definition<Args>) =>
    method(definition, (rows) => rows as Row[]),
  /** Returns the first row. */
  row: <Args extends unknown[], Row extends object>(...definition: Definition<Args>) =>
    method(definition, ([row]) => row as Row | undefined),
  /** Returns the row of a statement that always has one. */
  single: <Args extends unknown[], Row extends object>(...definition: Definition<Args>) =>
    method(definition, ([row]) => {
      if (!row) throw new Error(`${definition[0]} returned no row`);
      return row as Row;
    }),
  /** Returns the first column of all rows. */
  values: <Args extends unknown[], Value>(...definition: Definition<Args>) =>
    method(definition, (rows) => rows.map(firstColumn) as Value[]),
  /** Returns the first column of the first row. `Value` includes undefined if there can be no row. */
  value: <Args extends unknown[], Value>(...definition: Definition<Args>) =>
    method(definition, ([row = {}]) => firstColumn(row) as Value),
  /** Returns the number of rows. */
  rowCount: <Args extends unknown[]>(...definition: Definition<Args>) =>
    method(definition, (rows) => rows.length),
  /** Returns whether there is a row. */
  hasRow: <Args extends unknown[]>(...definition: Definition<Args>) =>
    method(definition, (rows) => rows.length > 0),
  /** Returns nothing. */
  run: <Args extends unknown[]>(...definition: Definition<Args>) =>
    method(definition, () => undefined as void),
};

type Methods = Record<string, (db: Queryable) => unknown>;

type Bound<Defined extends Methods> = { [Name in keyof Defined]: ReturnType<Defined[Name]> };

/**
 * Makes the function that creates a repository: `methods` are defined by `sql`; `addMethods` returns those that do more than run one
 * statement, and may call the others.
 */
export function repository<Defined extends Methods, Added extends object = object>(
  methods: Defined,
  addMethods?: (db: Queryable, bound: Bound<Defined>) => Added,
) {
  const entries = Object.entries(methods);
  return (db: Queryable): Bound<Defined> & Added => {
    const bound = Object.fromEntries(entries.map(([name, bind]) => [name, bind(db)])) as Bound<Defined>;
    return Object.assign(bound, addMethods?.(db, bound) as Added);
  };
}

function method<Args extends unknown[], Result>(
  [signature, text, toValues]: Definition<Args>,
  read: (rows: object[]) => Result,
): Method<Args, Result> {
  const [name = '', list] = signature.split(/[()]/);
  const prepared = statement(name, text);
  const valuesOf = toValues ?? nameArguments(prepared, list?.split(', '));
  return (db) =>
    async (...args) =>
      read(await db.query(prepared, pickValues(prepared, valuesOf(...args))));
}

/** Returns a function that gives arguments the names of their parameters. */
function nameArguments({ name, parameters }: NamedStatement, list?: readonly string[]) {
  const names = list ?? (parameters.length > 1 ? ['...'] : parameters);
  const unknown = names.find((each) => each !== '...' && !parameters.includes(each));
  if (unknown !== undefined) throw new Error(`${name} has no parameter ${unknown}`);
  return (...args: readonly unknown[]): Record<string, unknown> => {
    const objects = args.filter((_, index) => names[index] === '...');
    return Object.assign({}, ...objects, Object.fromEntries(names.map((each, index) => [each, args[index]])));
  };
}

/** @throws when a value is missing. */
function pickValues(
  { name, parameters }: NamedStatement,
  values: Readonly<Record<string, unknown>>,
): unknown[] {
  return parameters.map((parameter) => {
    if (!Object.hasOwn(values, parameter)) throw new Error(`${name} has no value for ${parameter}`);
    return values[parameter];
  });
}

function firstColumn(row: object): unknown {
  return Object.values(row)[0];
}
