import type pg from 'pg';
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
export const queryableOf = (client: pg.Client): Queryable => ({
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

/** Which of these tables a plan would read from end to end, each with the condition on the rows. */
export function findFullScans(plans: readonly PlanNode[], tables: ReadonlySet<string>): string[] {
  return plans.flatMap((plan) => findFullScan(plan, tables));
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
