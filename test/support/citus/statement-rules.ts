import type { Placement } from './distribution.ts';
import { type Level, QueryLevels, type Use } from './query-levels.ts';

/** What Citus refuses, or answers wrongly, in a statement. */
export type Breach =
  /** Assigns a distribution column. */
  | 'assigns'
  /** Looks for a conflict by columns without the distribution column. */
  | 'conflict'
  /** Joins a distributed table with one that is on the coordinator only. */
  | 'coordinator'
  /** A subquery on a distributed table that depends on an outer query, other than by the distribution columns of both. */
  | 'correlated'
  /** Joins distributed tables by other columns than their distribution columns. */
  | 'join'
  /** Locks rows on several nodes. */
  | 'lock'
  /** Reads a row's place or version (ctid, xmin), which has a meaning on its own node only. */
  | 'row version'
  /** A recursive query on several nodes. */
  | 'recursive'
  /** Changes rows in a WITH clause, on several nodes. */
  | 'write';

/** Finds the breaches that depend on the levels of a statement that is not limited to one node. */
function findLevelBreaches(
  level: Level,
  inner: readonly Use[],
  kindOf: (use: Use) => Placement['kind'] | undefined,
  keyOf: (use: Use) => string,
): Breach[] {
  const isDistributed = (use: Use) => kindOf(use) === 'distributed';
  const own = level.uses.filter(isDistributed);
  const ownKeys = new Set(own.map(keyOf));
  const joined = [...level.uses, ...inner];
  const found: [Breach, boolean][] = [
    ['join', ownKeys.size > 1],
    ['correlated', inner.some((use) => isDistributed(use) && !ownKeys.has(keyOf(use)))],
    ['coordinator', joined.some(isDistributed) && joined.some((use) => kindOf(use) === 'coordinator')],
    ['lock', level.hasRowLock && own.length > 0],
    ['row version', level.systemColumns.size > 0 && own.length > 0],
    ['write', level.isModifyingCte],
    ['recursive', level.isRecursive],
  ];
  return found.flatMap(([breach, isFound]) => (isFound ? [breach] : []));
}

/** Holds a statement to the rules of Citus. Returns its breaches in alphabetical order. The parser must be loaded. */
export function checkStatement(
  text: string,
  columns: ReadonlyMap<string, readonly string[]>,
  placements: ReadonlyMap<string, Placement>,
): Breach[] {
  const query = new QueryLevels(text, columns);
  const kindOf = (use: Use) => placements.get(use.table)?.kind;
  const distributionOf = (use: Use) => {
    const placement = placements.get(use.table);
    return placement?.kind === 'distributed' ? placement : undefined;
  };
  const columnOf = (use: Use) => `${use.id}.${distributionOf(use)?.column}`;
  const keyOf = (use: Use) => `${distributionOf(use)?.group}: ${query.classOf(columnOf(use))}`;

  const distributed = query.uses.filter((use) => distributionOf(use));
  if (distributed.length === 0) return [];
  const isOnOneNode =
    new Set(distributed.map(keyOf)).size === 1 &&
    distributed.every((use) => query.isPinned(columnOf(use))) &&
    query.uses.every((use) => kindOf(use) !== 'coordinator');
  const breaches = query.levels.flatMap((level): Breach[] => {
    const { assigned, conflict, uses, systemColumns } = level;
    const target = uses.find((use) => distributionOf(use));
    const column = target && distributionOf(target)?.column;
    const inner = query.levels
      .filter(({ correlatedWith }) => correlatedWith.has(level))
      .flatMap((each) => each.uses);
    return [
      ...(column !== undefined && assigned.includes(column) ? (['assigns'] as const) : []),
      ...(column !== undefined && conflict && !conflict.includes(column) ? (['conflict'] as const) : []),
      // The snapshot of a call is that of the coordinator.
      ...(target && systemColumns.has('xmin') ? (['row version'] as const) : []),
      ...(isOnOneNode ? [] : findLevelBreaches(level, inner, kindOf, keyOf)),
    ];
  });
  return [...new Set(breaches)].toSorted();
}
