import type { ApprovalAction, ApprovalDecision, ApprovalState, ApprovalVia } from '../../domain/approvals.ts';
import { type Queryable, statement, query } from '../queryable.ts';
import { actedAsByPerson, actedAsBySamePeople } from './rights.ts';

/** A question that an agent's call put to its people. */
export interface ApprovalRow {
  id: string;
  agent_id: string;
  agent_handle: string;
  agent_display_name: string;
  action: ApprovalAction;
  /** Handle of the agent that it is about. */
  target: string;
  /** What the agent wants to say there; may be empty. */
  message: string;
  /** The program through which the agent asks, in its own words; may be empty. */
  client_name: string;
  state: ApprovalState;
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  /** Where it was decided. */
  decided_via: ApprovalVia | null;
  /** Username of who decided, where that is known. */
  decided_by: string | null;
  /** Handle of the agent through which it was decided. */
  decided_by_agent: string | null;
  /** When what was approved was done. */
  used_at: number | null;
}

/** What is asked. Two questions are the same when all of these are. */
export type ApprovalSubject = Pick<ApprovalRow, 'agent_id' | 'action' | 'target' | 'message'>;

/** `now` is the SQL of the time: what nobody decided until it expired is expired, whether or not that was noted. */
const stateSql = (now: string): string =>
  `case when q.state = 'pending' and q.expires_at <= ${now} then 'expired' else q.state end`;

const columns = (now: string): string => `q.id, q.agent_id, a.canonical_handle as agent_handle,
  a.display_name as agent_display_name, q.action, q.target, q.message, q.client_name,
  ${stateSql(now)} as state, q.created_at, q.expires_at, q.decided_at, q.decided_via, p.name as decided_by,
  d.canonical_handle as decided_by_agent, q.used_at`;

const joined = `approvals q join agents a on a.id = q.agent_id
  left join owners p on p.id = q.decided_by left join agents d on d.id = q.decided_by_agent`;

const statements = {
  insert: statement(
    'approvals.insert',
    `insert into approvals (id, agent_id, action, target, message, client_name, state, created_at, expires_at)
     values (:id, :agent_id, :action, :target, :message, :client_name, 'pending', :created_at, :expires_at)
     on conflict (agent_id, action, target, message) where state = 'pending' do nothing returning id`,
  ),
  expire: statement(
    'approvals.expire',
    `update approvals set state = 'expired' where agent_id = :agent_id and state = 'pending' and expires_at <= :now`,
  ),
  countPending: statement(
    'approvals.count_pending',
    `select count(*)::int as count, min(expires_at) as first_expiry from approvals where agent_id = :agent_id and state = 'pending'`,
  ),
  findCurrent: statement(
    'approvals.find_current',
    `select ${columns(':now')} from ${joined}
     where q.agent_id = :agent_id and q.action = :action and q.target = :target and q.message = :message
       and q.state <> 'expired' and q.expires_at > :now and q.used_at is null
     order by q.id desc limit 1`,
  ),
  find: statement('approvals.find', `select ${columns(':now')} from ${joined} where q.id = :id`),
  findForPerson: statement(
    'approvals.find_for_person',
    `select ${columns(':now')} from ${joined} where q.id = :id and ${actedAsByPerson(':account_id')}`,
  ),
  listForPerson: statement(
    'approvals.list_for_person',
    `select ${columns(':now')} from ${joined}
     where ${actedAsByPerson(':account_id')} and (q.state = 'pending' and q.expires_at > :now) = :pending and (:before = '' or q.id < :before)
     order by q.id desc limit :limit`,
  ),
  findForAgent: statement(
    'approvals.find_for_agent',
    `select ${columns(':now')} from agents me, ${joined}
     where q.id = :id and me.id = :agent_id and ${actedAsBySamePeople}`,
  ),
  listForAgent: statement(
    'approvals.list_for_agent',
    `select ${columns(':now')} from agents me, ${joined}
     where me.id = :agent_id and ${actedAsBySamePeople} and (:state::text is null or ${stateSql(':now')} = :state)
       and (:before = '' or q.id < :before)
     order by q.id desc limit :limit`,
  ),
  listOfAgent: statement(
    'approvals.list_of_agent',
    `select ${columns(':now')} from ${joined} where q.agent_id = :agent_id order by q.id desc limit :limit`,
  ),
  decide: statement(
    'approvals.decide',
    `update approvals set state = :decision, decided_by = :account_id, decided_at = :now, expires_at = greatest(expires_at, :good_until),
       decided_via = :via, decided_by_agent = :agent_id
     where id = :id and state = 'pending' and expires_at > :now returning id`,
  ),
  use: statement(
    'approvals.use',
    `update approvals set used_at = :now
     where id = :id and agent_id = :agent_id and state = 'approved' and used_at is null and expires_at > :now returning id`,
  ),
  removeExpired: statement(
    'approvals.remove_expired',
    `delete from approvals where id in (select id from approvals where expires_at < :time limit :limit) returning 1`,
  ),
};

export function approvalsRepository(db: Queryable) {
  return {
    /** Asks, unless the same is asked already; answers whether it did. */
    async insert(
      approval: ApprovalSubject & Pick<ApprovalRow, 'id' | 'client_name' | 'created_at' | 'expires_at'>,
    ): Promise<boolean> {
      const { id, agent_id, action, target, message, client_name, created_at, expires_at } = approval;
      const values = { id, agent_id, action, target, message, client_name, created_at, expires_at };
      return (await query(db, statements.insert, values)).length > 0;
    },
    /** Notes of an agent's questions which ones nobody decided in time. */
    async expire(agentId: string, now: number): Promise<void> {
      await query(db, statements.expire, { agent_id: agentId, now });
    },
    /** How many questions of an agent wait, and when the first of them expires. */
    async countPending(agentId: string): Promise<{ count: number; first_expiry: number | null }> {
      const rows = await query<{ count: number; first_expiry: number | null }>(db, statements.countPending, {
        agent_id: agentId,
      });
      return rows[0] ?? { count: 0, first_expiry: null };
    },
    /** The latest about this that still counts at `now`: it waits, was denied, or was approved and not done yet. */
    async findCurrent(subject: ApprovalSubject, now: number): Promise<ApprovalRow | undefined> {
      const { agent_id, action, target, message } = subject;
      const values = { agent_id, action, target, message, now };
      return (await query<ApprovalRow>(db, statements.findCurrent, values))[0];
    },
    async find(id: string, now: number): Promise<ApprovalRow | undefined> {
      return (await query<ApprovalRow>(db, statements.find, { id, now }))[0];
    },
    /** As find, if the account acts as the agent that asks. */
    async findForPerson(accountId: string, id: string, now: number): Promise<ApprovalRow | undefined> {
      return (await query<ApprovalRow>(db, statements.findForPerson, { account_id: accountId, id, now }))[0];
    },
    /** Of all agents that the account acts as, those that wait or the others, newest first, older than `before` if it names one. */
    listForPerson(
      accountId: string,
      now: number,
      only: { pending: boolean; before: string; limit: number },
    ): Promise<ApprovalRow[]> {
      const { pending, before, limit } = only;
      return query<ApprovalRow>(db, statements.listForPerson, {
        account_id: accountId,
        now,
        pending,
        before,
        limit,
      });
    },
    /** As find, if the same people act as `agentId` and as the agent that asks, and these are two. */
    async findForAgent(agentId: string, id: string, now: number): Promise<ApprovalRow | undefined> {
      return (await query<ApprovalRow>(db, statements.findForAgent, { agent_id: agentId, id, now }))[0];
    },
    /** Those that findForAgent finds, newest first, older than `before` if it names one. */
    listForAgent(
      agentId: string,
      now: number,
      only: { state: ApprovalState | null; before: string; limit: number },
    ): Promise<ApprovalRow[]> {
      const { state, before, limit } = only;
      return query<ApprovalRow>(db, statements.listForAgent, {
        agent_id: agentId,
        now,
        state,
        before,
        limit,
      });
    },
    /** The newest of an agent. */
    listOfAgent(agentId: string, now: number, limit: number): Promise<ApprovalRow[]> {
      return query<ApprovalRow>(db, statements.listOfAgent, { agent_id: agentId, now, limit });
    },
    /** Whether it still waited, and so is decided now. It counts until `goodUntil` at least. */
    async decide(
      id: string,
      decision: ApprovalDecision,
      by: {
        via: ApprovalVia;
        account_id: string | null;
        agent_id: string | null;
        now: number;
        good_until: number;
      },
    ): Promise<boolean> {
      const { via, account_id, agent_id, now, good_until } = by;
      const values = { id, decision, via, account_id, agent_id, now, good_until };
      return (await query(db, statements.decide, values)).length > 0;
    },
    /** Whether it was approved to this agent and not used before, and so is used now. */
    async use(agentId: string, id: string, now: number): Promise<boolean> {
      return (await query(db, statements.use, { agent_id: agentId, id, now })).length > 0;
    },
    /** Removes up to `limit` that expired before `time` (ms); answers how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await query(db, statements.removeExpired, { time, limit })).length;
    },
  };
}
