import { describe, expect, test } from 'vitest';
import type { Queryable, Statement } from '../../../src/repositories/queryable.ts';
import { repository, sql } from '../../../src/repositories/sql.ts';
import { readSources } from '../architecture/source-files.ts';

/** Answers each statement with these rows, and keeps what was sent. */
function createQueryable(rows: object[]) {
  const sent: unknown[] = [];
  const query = ({ name }: Statement, values: readonly unknown[]) => {
    sent.push([name, ...values]);
    return Promise.resolve(rows as never);
  };
  return { db: { query } satisfies Queryable, sent };
}

describe('the arguments of a method', () => {
  const create = repository({
    find: sql.row<[id: string], object>('x.find', 'select :id'),
    move: sql.run<[to: number, id: string]>('x.move(to, id)', 'update x set place = :to where id = :id'),
    insert: sql.run<[row: { a: number; b: number }]>('x.insert', 'insert into x values (:b, :a)'),
    update: sql.run<[id: string, row: { a: number }]>(
      'x.update(id, ...)',
      'update x set a = :a where id = :id',
    ),
    index: sql.run<[list: readonly { a: number }[]]>(
      'x.index',
      'select unnest(:list_of_a::int[])',
      (list) => ({
        list_of_a: list.map(({ a }) => a),
      }),
    ),
  });

  test('are sent in the order of the parameters', async () => {
    const { db, sent } = createQueryable([]);
    const x = create(db);
    const row = { id: 'other', a: 1, b: 2 };
    await Promise.all([x.find('i'), x.move(3, 'i'), x.insert(row), x.update('i', row), x.index([row])]);
    expect(sent).toEqual([
      ['x.find', 'i'],
      ['x.move', 3, 'i'],
      ['x.insert', 2, 1],
      ['x.update', 1, 'i'],
      ['x.index', [1]],
    ]);
  });

  test('must have a value for each parameter', async () => {
    const { insert } = create(createQueryable([]).db);
    await expect(insert({ a: 1 } as never)).rejects.toThrow('x.insert has no value for b');
  });

  test('must be parameters', () => {
    expect(() => sql.run<[id: string]>('x.remove(ids)', 'delete from x where id = :id')).toThrow(
      'x.remove has no parameter ids',
    );
  });

  test('have the same names in the type and in the signature', () => {
    const wrong = readSources(['src/repositories']).flatMap(({ path, text }) =>
      [...text.matchAll(/\bsql\.\w+<\s*\[/g)].flatMap(({ 0: { length }, index }) => {
        const { labels, end } = readLabels(text, index + length);
        const [, name, list] = /^[^(]*>\(\s*'([\w.]+)\(([^)]*)\)'/.exec(text.slice(end)) ?? [];
        const names = list?.split(', ') ?? [];
        const isEqual = names.every((each, at) => each === '...' || each === toSnakeCase(labels[at]));
        return list === undefined || (isEqual && names.length === labels.length) ? [] : `${path}: ${name}`;
      }),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the result of a method', () => {
  const create = repository({
    rows: sql.rows<[], object>('x.rows', 'select'),
    row: sql.row<[], object>('x.row', 'select'),
    single: sql.single<[], object>('x.single', 'select'),
    values: sql.values<[], number>('x.values', 'select'),
    value: sql.value<[], number | undefined>('x.value', 'select'),
    rowCount: sql.rowCount<[]>('x.row_count', 'select'),
    hasRow: sql.hasRow<[]>('x.has_row', 'select'),
    run: sql.run<[]>('x.run', 'select'),
  });
  const readAll = async (rows: object[]) => {
    const methods = create(createQueryable(rows).db);
    const results = Object.entries(methods).map(async ([name, read]) => [name, await read().catch(String)]);
    return Object.fromEntries(await Promise.all(results)) as Record<string, unknown>;
  };

  test('is made of its rows', async () => {
    const rows = [{ a: 1, b: 2 }, { a: 3 }];
    const [row] = rows;
    const first = { rows, row, single: row, values: [1, 3], value: 1 };
    expect(await readAll(rows)).toEqual({ ...first, rowCount: 2, hasRow: true, run: undefined });
  });

  test('without rows', async () => {
    const none = { rows: [], row: undefined, values: [], value: undefined, rowCount: 0, hasRow: false };
    const single = 'Error: x.single returned no row';
    expect(await readAll([])).toEqual({ ...none, single, run: undefined });
  });

  test('can come from several statements', async () => {
    const repositoryOf = repository({ find: sql.values<[], number>('x.find', 'select') }, (_, { find }) => ({
      findTwice: async () => [...(await find()), ...(await find())],
    }));
    expect(await repositoryOf(createQueryable([{ a: 1 }]).db).findTwice()).toEqual([1, 1]);
  });
});

/** The labels of the tuple type that begins at `start`, after its bracket, and the position after it. */
function readLabels(text: string, start: number): { labels: string[]; end: number } {
  const parts = [''];
  let depth = 0;
  let end = start;
  for (; depth >= 0; end += 1) {
    const sign = text.charAt(end);
    if ('[{(<'.includes(sign)) depth += 1;
    if (']})'.includes(sign) || (sign === '>' && text.charAt(end - 1) !== '=')) depth -= 1;
    if (sign === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop()}${sign}`);
  }
  return { labels: parts.flatMap((part) => /^\s*(\w+)\??:/.exec(part)?.[1] ?? []), end };
}

function toSnakeCase(name = ''): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
