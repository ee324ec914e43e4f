import { type Queryable, statement } from './queryable.ts';

const statements = {
  insert: statement(
    'thread_members.insert',
    `insert into thread_members (thread_id, agent_id, read_sequence, joined_at) values ($1, $2, $3, $4)`,
  ),
  remove: statement(
    'thread_members.remove',
    `delete from thread_members where thread_id = $1 and agent_id = $2`,
  ),
  markRead: statement(
    'thread_members.mark_read',
    `update thread_members m set read_sequence = least($3, t.last_sequence)
     from threads t
     where t.id = $1 and m.thread_id = t.id and m.agent_id = $2 and m.read_sequence < least($3, t.last_sequence)
     returning m.read_sequence`,
  ),
};

export function threadMembersRepository(db: Queryable) {
  return {
    /** `read_sequence` is where the new member's unread messages begin. */
    async insert(member: {
      thread_id: string;
      agent_id: string;
      read_sequence: number;
      joined_at: number;
    }): Promise<void> {
      const { thread_id, agent_id, read_sequence, joined_at } = member;
      await db.query(statements.insert, [thread_id, agent_id, read_sequence, joined_at]);
    },
    async remove(threadId: string, agentId: string): Promise<void> {
      await db.query(statements.remove, [threadId, agentId]);
    },
    /**
     * Moves the read mark forward, at most to the latest message; answers where it stands now, or undefined when it did not
     * move.
     */
    async markRead(threadId: string, agentId: string, sequence: number): Promise<number | undefined> {
      const [row] = await db.query<{ read_sequence: number }>(statements.markRead, [
        threadId,
        agentId,
        sequence,
      ]);
      return row?.read_sequence;
    },
  };
}
