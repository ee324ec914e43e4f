import type { Relation } from '../../domain/agents/relations.ts';
import type { ThreadStatus } from '../../domain/threads.ts';
import type { AgentRow } from '../agents/agents.ts';
import { type Queryable, statement, query } from '../queryable.ts';
import { relationOf } from '../agents/relations.ts';

export interface ThreadMember {
  id: string;
  canonical_handle: string;
}

export interface ThreadRow {
  id: string;
  subject: string | null;
  status: ThreadStatus;
  created_by: string;
  created_by_handle: string;
  last_sequence: number;
  last_message_at: number | null;
  created_at: number;
  updated_at: number;
  /** In the order in which they joined. */
  members: ThreadMember[];
  /** How far the viewer has read. */
  read_sequence: number;
}

/** A thread for a message of one of its members. */
export interface OpenThreadRow extends Pick<ThreadRow, 'status' | 'created_by'> {
  /** Of the member that writes. */
  paused: boolean;
  retired: boolean;
}

/** A member of a thread that may stand between it and a message of another one: the only other member, or one that has blocked it. */
export interface MemberToCheck
  extends Pick<AgentRow, 'id' | 'canonical_handle' | 'inbound_policy' | 'paused'>, Relation {
  retired: boolean;
  /** Whether it and the other one are the only members; the whole relation is told only then, blocks by it always. */
  alone: boolean;
}

/** Whom a message of one member reaches. */
export interface Audience {
  /** Whether the one that writes is a member. */
  joined: boolean;
  /** All members, the one that writes among them, but those that are retired. */
  member_ids: string[];
  listeners: MemberToCheck[];
}

export const threadColumns = `t.id, t.subject, t.status, t.created_by, t.last_sequence, t.last_message_at, t.created_at, t.updated_at,
  (select c.canonical_handle from agents c where c.id = t.created_by) as created_by_handle,
  (select jsonb_agg(jsonb_build_object('id', a.id, 'canonical_handle', a.canonical_handle) order by m.joined_at, a.canonical_handle)
   from thread_members m join agents a on a.id = m.agent_id where m.thread_id = t.id) as members,
  v.read_sequence`;

const statements = {
  findForMember: statement(
    'threads.find_for_member',
    `select ${threadColumns} from threads t join thread_members v on v.thread_id = t.id and v.agent_id = :agent_id where t.id = :id`,
  ),
  lockForMember: statement(
    'threads.lock_for_member',
    `select t.id from threads t join thread_members v on v.thread_id = t.id and v.agent_id = :agent_id where t.id = :id
     for no key update of t`,
  ),
  /** What it says of the thread is as it stands behind the lock; whether the member still is one, the audience says. */
  lockForMessage: statement(
    'threads.hold_for_message',
    `select t.status, t.created_by, a.paused, a.retired_at is not null as retired
     from threads t join thread_members v on v.thread_id = t.id and v.agent_id = :agent_id join agents a on a.id = v.agent_id
     where t.id = :id for no key update of t`,
  ),
  /**
   * One row, however many members there are. The planner must leave the relation where it stands (offset 0): it would look it up for
   * all members of a group and drop it.
   */
  readAudience: statement(
    'threads.audience',
    `with member as materialized (
       select a.id, a.canonical_handle, a.inbound_policy, a.paused, a.owner_id, a.retired_at is not null as retired,
         exists (select from blocks b where b.agent_id = m.agent_id and b.blocked_agent_id = :agent_id) as blocked_by_them
       from thread_members m join agents a on a.id = m.agent_id where m.thread_id = :id
     ), listener as (
       select a.id, a.canonical_handle, a.inbound_policy, a.paused, a.retired, n.members = 2 as alone, a.blocked_by_them,
         coalesce(r.blocked_by_viewer, false) as blocked_by_viewer, false as self,
         coalesce(r.same_owner, false) as same_owner, coalesce(r.same_organization, false) as same_organization,
         coalesce(r.contact, false) as contact, coalesce(r.allowlisted, false) as allowlisted
       from member a cross join (select count(*) as members from member) n
       left join lateral (
         select r.* from agents viewer join owners viewer_owner on viewer_owner.id = viewer.owner_id
         cross join lateral (${relationOf}) r where viewer.id = :agent_id and n.members = 2 offset 0
       ) r on true
       where a.id <> :agent_id and (n.members = 2 or a.blocked_by_them)
     )
     select coalesce(bool_or(id = :agent_id), false) as joined, coalesce(json_agg(id) filter (where not retired), '[]') as member_ids,
       (select coalesce(json_agg(listener), '[]') from listener) as listeners
     from member`,
  ),
  insert: statement(
    'threads.insert',
    `with thread as (
       insert into threads (id, subject, status, created_by, created_at, updated_at) values (:id, :subject, 'active', :created_by, :created_at, :created_at)
     )
     insert into thread_members (thread_id, agent_id, joined_at) select :id, member, :created_at from unnest(:member_ids::text[]) member`,
  ),
  update: statement(
    'threads.update',
    `update threads set subject = :subject, status = :status, updated_at = :updated_at where id = :id`,
  ),
};

export function threadsRepository(db: Queryable) {
  async function findForMember(id: string, agentId: string): Promise<ThreadRow | undefined> {
    return (await query<ThreadRow>(db, statements.findForMember, { id, agent_id: agentId }))[0];
  }

  return {
    findForMember,
    /**
     * As findForMember, and holds the thread until the transaction ends: nothing in it changes meanwhile. Two statements in
     * one round trip: the second one must see what was committed while the first one waited. Only members ever wait.
     */
    async lockForMember(id: string, agentId: string): Promise<ThreadRow | undefined> {
      const [, thread] = await Promise.all([
        query(db, statements.lockForMember, { id, agent_id: agentId }),
        findForMember(id, agentId),
      ]);
      return thread;
    },
    /** Holds the thread until the transaction ends, for a message of this member; undefined when it is none. */
    async lockForMessage(id: string, agentId: string): Promise<OpenThreadRow | undefined> {
      return (await query<OpenThreadRow>(db, statements.lockForMessage, { id, agent_id: agentId }))[0];
    },
    /** Whom a message of this member reaches, and who may stand between it and them. */
    async readAudience(id: string, agentId: string): Promise<Audience> {
      const [audience] = await query<Audience>(db, statements.readAudience, { id, agent_id: agentId });
      if (!audience) throw new Error('an aggregate is always one row');
      return audience;
    },
    async insert(thread: {
      id: string;
      subject: string | null;
      created_by: string;
      created_at: number;
      member_ids: string[];
    }) {
      const { id, subject, created_by, created_at, member_ids } = thread;
      await query(db, statements.insert, { id, subject, created_by, created_at, member_ids });
    },
    async update(thread: {
      id: string;
      subject: string | null;
      status: ThreadStatus;
      updated_at: number;
    }): Promise<void> {
      await query(db, statements.update, {
        id: thread.id,
        subject: thread.subject,
        status: thread.status,
        updated_at: thread.updated_at,
      });
    },
  };
}
