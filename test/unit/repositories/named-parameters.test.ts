import { describe, expect, test } from 'vitest';
import {
  bind,
  hideFromPlanner,
  query,
  type Queryable,
  statement,
  unpreparedStatement,
} from '../../../src/repositories/queryable.ts';

describe('a statement with named parameters', () => {
  test('has positions in the order of first appearance', () => {
    expect(statement('x.find', 'select :b, :a, :b + :a_2')).toEqual({
      name: 'x.find',
      text: 'select $1, $2, $1 + $3',
      parameters: ['b', 'a', 'a_2'],
    });
  });

  test('has no statement name when it is not prepared', () => {
    expect(unpreparedStatement('select :a')).toEqual({ text: 'select $1', parameters: ['a'] });
  });

  test.each([
    ['a cast', 'select :a::text, x::bigint', 'select $1::text, x::bigint'],
    ['a named argument', 'select f(x := :a)', 'select f(x := $1)'],
    ['a literal', `select 'pair:x' || :a || ':b ''c:d'' :e'`, `select 'pair:x' || $1 || ':b ''c:d'' :e'`],
    ['an identifier in quotes', 'select ":b" from x where y = :a', 'select ":b" from x where y = $1'],
    ['a dollar-quoted literal', `select $r$':b'$r$, $$:c$$, :a`, `select $r$':b'$r$, $$:c$$, $1`],
    ['JSON', `select '{"erased": true}'::jsonb, :a`, `select '{"erased": true}'::jsonb, $1`],
    ['a hidden value', `select ${hideFromPlanner(':a', 'int')}`, 'select (select $1::int)::int'],
  ])('leaves %s unchanged', (_, source, text) => {
    expect(statement('x', source)).toEqual({ name: 'x', text, parameters: ['a'] });
  });

  test('hides an array that has its type from the planner', () => {
    const { text } = statement('x', 'select :a::text[], :a, :b');
    expect(text).toBe(`select ${hideFromPlanner('$1', 'text[]')}, $1, $2`);
    expect(unpreparedStatement('select :a::text[]').text).toBe('select $1::text[]');
  });

  test('leaves positions unchanged', () => {
    expect(statement('x', 'select $1::text, $2')).toEqual({
      name: 'x',
      text: 'select $1::text, $2',
      parameters: [],
    });
  });

  test('rejects names together with positions', () => {
    expect(() => statement('x', 'select :a, $2')).toThrow('names and positions are mixed');
  });
});

describe('values by name', () => {
  const find = statement('x.find', 'select :b, :a, :b');

  test('are sorted by position', () => {
    expect(bind(find, { a: 1, b: null })).toEqual([null, 1]);
  });

  test.each([
    ['missing', { a: 1 }],
    ['left over', { a: 1, b: 2, c: 3 }],
    ['of another name', { a: 1, c: 2 }],
  ])('must match the parameters: one is %s', (_, values) => {
    expect(() => bind(find, values)).toThrow(/^x\.find takes b, a; received a/);
  });

  test('are sent to the database by position', async () => {
    const sent: unknown[] = [];
    const db: Queryable = {
      query: async (...args) => {
        sent.push(args);
        return [];
      },
    };
    await query(db, find, { a: 1, b: 2 });
    expect(sent).toEqual([[find, [2, 1]]]);
  });
});
