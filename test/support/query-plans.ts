import type pg from 'pg';
import { expect, test } from 'vitest';
import type { Queryable, Statement } from '../../src/repositories/queryable.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Filter?: string;
  /** Of a statement that was run; of each loop. */
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Sort Key'?: string[];
  Plans?: PlanNode[];
}

/** A client of pg as repositories see it; no statement has a name there. */
export const queryableOf = (client: Pick<pg.Client, 'query'>): Queryable => ({
  query: async <Row extends object>({ text }: Statement, values: readonly unknown[]) =>
    (await client.query<Row>(text, [...values])).rows,
});

/** Runs what a repository does, and answers how PostgreSQL would: with the values known, and planned once for all values. */
export async function collectPlans(
  db: Queryable,
  use: (db: Queryable) => Promise<unknown>,
): Promise<PlanNode[]> {
  const queries: { statement: Statement; values: readonly unknown[] }[] = [];
  await use({
    query<Row extends object>(statement: Statement, values: readonly unknown[]) {
      queries.push({ statement, values });
      return db.query<Row>({ text: statement.text }, values);
    },
  });
  const plans: PlanNode[] = [];
  for (const { statement, values } of queries) {
    plans.push(...(await explainQuery(db, statement.text, values)));
    if (statement.name !== undefined)
      plans.push(...(await explainQuery(db, statement.text, [], ', generic_plan')));
  }
  return plans;
}

/** How PostgreSQL would do, or with `, analyze` has done, what a statement says. */
export async function explainQuery(
  db: Queryable,
  text: string,
  values: readonly unknown[],
  how = '',
): Promise<PlanNode[]> {
  const explain = { text: `explain (format json${how}) ${text}` };
  const rows = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, values);
  return rows.map((row) => row['QUERY PLAN'][0].Plan);
}

/** The default partition of a table holds next to nothing. */
const parentTableOf = (relation: string | undefined) => relation?.replace(/_(first|\d{8})$/, '');

function findFullScan(plan: PlanNode, tables: ReadonlySet<string>): string[] {
  const below = (plan.Plans ?? []).flatMap((child) => findFullScan(child, tables));
  const table = parentTableOf(plan['Relation Name']);
  const isWhole = plan['Node Type'] === 'Seq Scan' && table !== undefined && tables.has(table);
  return isWhole ? [...below, `${table}: ${plan.Filter ?? 'all rows'}`] : below;
}

/** What a repository does, under the name of its test. */
export type Use = [what: string, run: (db: Queryable) => Promise<unknown>];

/** Tests that nothing reads one of these tables from end to end, and that this would be found. */
export function testFullScans(
  client: Pick<pg.Client, 'query'>,
  uses: readonly Use[],
  tables: ReadonlySet<string>,
): void {
  const scansOf = (plans: readonly PlanNode[]) => plans.flatMap((plan) => findFullScan(plan, tables));
  test.each(uses)('scans no big table: %s', async (_, run) => {
    const plans = await collectPlans(queryableOf(client), run);
    expect(plans.length).toBeGreaterThan(0);
    expect(scansOf(plans)).toEqual([]);
  });

  test.each([...tables])('a full scan of %s is found', async (table) => {
    const all = { name: 'test', text: `select * from ${table}` };
    expect(scansOf(await collectPlans(queryableOf(client), (db) => db.query(all, [])))).toHaveLength(2);
  });
}

/** Runs what a repository does. Returns how many rows each part of its plans read of a table. */
export async function countReadRows(
  client: Pick<pg.Client, 'query'>,
  table: string,
  run: (db: Queryable) => Promise<unknown>,
): Promise<number[]> {
  const read: number[] = [];
  await run({
    async query({ text }: Statement, values: readonly unknown[]) {
      const plans = await explainQuery(queryableOf(client), text, values, ', analyze');
      const nodes = plans.flatMap(flattenPlan).filter((node) => node['Relation Name'] === table);
      for (const node of nodes) read.push((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0));
      return [];
    },
  });
  return read;
}

/** A plan with all parts of it. */
export const flattenPlan = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(flattenPlan)];

/** Which of these tables a plan would read in any other way than by asking an index for certain rows. */
export function findUnindexedReads(plans: readonly PlanNode[], tables: ReadonlySet<string>): string[] {
  const scans = plans
    .flatMap(flattenPlan)
    .filter((node) => /^(Seq|Index|Index Only) Scan$/.test(node['Node Type']));
  return scans.flatMap((node) => {
    const table = parentTableOf(node['Relation Name']);
    return table !== undefined && tables.has(table) && !node['Index Cond']
      ? [`${node['Node Type']}: ${table}`]
      : [];
  });
}
