import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How Citus stores a table: on every node, on the coordinator only, or distributed by a column. */
export type Placement =
  | { kind: 'reference' | 'coordinator' }
  | {
      kind: 'distributed';
      column: string;
      /** The first table of the group. Rows with equal values in tables of one group are on the same node. */
      group: string;
    };

const call =
  /^select (create_reference_table|citus_add_local_table_to_metadata|create_distributed_table_concurrently)\('(\w+)'(?:, '(\w+)', colocate_with => '(\w+)')?\);$/;

export const readScript = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../../deploy/citus', name), 'utf8');

/** Reads deploy/citus/distribute.sql. Returns the placement of each table, in the order of the script. */
export function readDistribution(): Map<string, Placement> {
  const placements = new Map<string, Placement>();
  const lines = readScript('distribute.sql')
    .split('\n')
    .filter((line) => line.startsWith('select ') && !line.startsWith('select create_distributed_function('));
  for (const line of lines) {
    const [, operation, table = '', column, leader = ''] = call.exec(line) ?? [];
    if (operation === undefined) throw new Error(`distribute.sql: ${line}`);
    if (placements.has(table)) throw new Error(`distribute.sql has ${table} twice`);
    if (column !== undefined)
      placements.set(table, { kind: 'distributed', column, group: leader === 'none' ? table : leader });
    else
      placements.set(table, { kind: operation === 'create_reference_table' ? 'reference' : 'coordinator' });
  }
  return placements;
}
