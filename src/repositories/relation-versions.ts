import type { Queryable } from './queryable.ts';

/**
 * The relation version of an agent rises with each change that can make a message refused, or that gives it other recipients. A send that
 * relies on an older version of a member of its thread fails (`SendContext`).
 *
 * A statement that makes such a change returns `raised_id`: a member, not retired before, of each affected thread; or null if nothing
 * changed. The version rises with the commit, so such a statement must be awaited, in a transaction. Statements that change the same
 * tables but need no version say why in a comment that begins with `no version`; an architecture test finds statements with neither.
 * @param onRaised called for each `raised_id`; null outside of a transaction, where such a statement throws
 */
export function watchRaisedVersions(db: Queryable, onRaised: ((agentId: string) => void) | null): Queryable {
  return {
    query(statement, values) {
      if (!statement.raisesVersions) return db.query(statement, values);
      if (!onRaised) throw new Error(`${statement.name} needs a transaction, which raises versions`);
      return reportRaised(db.query(statement, values), onRaised);
    },
  };
}

async function reportRaised<Row extends { raised_id?: string | null }>(
  rows: Promise<Row[]>,
  onRaised: (agentId: string) => void,
): Promise<Row[]> {
  for (const { raised_id = null } of await rows) if (raised_id !== null) onRaised(raised_id);
  return rows;
}
