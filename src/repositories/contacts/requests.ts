import { type Queryable, statement, query } from '../queryable.ts';

export type VisibleStatus = 'pending' | 'approved' | 'rejected';

export interface ContactRequestRow {
  request_id: string;
  from: Party;
  to: Party;
  message: string | null;
  status: VisibleStatus;
  created_at: number;
}

interface Party {
  id: string;
  canonical_handle: string;
  display_name: string;
}

const columns = `q.id as request_id, q.message, q.status, q.created_at,
  jsonb_build_object('id', f.id, 'canonical_handle', f.canonical_handle, 'display_name', f.display_name) as "from",
  jsonb_build_object('id', t.id, 'canonical_handle', t.canonical_handle, 'display_name', t.display_name) as "to"`;

const parties = `join agents f on f.id = q.from_agent_id join agents t on t.id = q.to_agent_id`;

/** Requests of retired agents are hidden, and incoming requests from blocked agents. */
const isVisible = `q.status <> 'withdrawn' and f.retired_at is null and t.retired_at is null`;
const notBlocked = `not exists (select from blocks b where b.agent_id = q.to_agent_id and b.blocked_agent_id = q.from_agent_id)`;

const page = `q.status = :status and (:before_at::bigint is null or (q.created_at, q.id) < (:before_at, :before_id))
     order by q.created_at desc, q.id desc limit :limit`;

const statements = {
  insert: statement(
    'contact_requests.insert',
    `with q as (
       insert into contact_requests (id, from_agent_id, to_agent_id, message, status, announced, created_at)
       values (:id, :from_agent_id, :to_agent_id, :message, 'pending', :announced, :created_at) returning *
     )
     select ${columns} from q ${parties}`,
  ),
  announce: statement(
    'contact_requests.announce',
    `with q as (
       update contact_requests set announced = true
       where status = 'pending' and not announced and from_agent_id = :from_id and to_agent_id = :to_id returning *
     )
     select ${columns} from q ${parties}`,
  ),
  findPending: statement(
    'contact_requests.find_pending',
    `select ${columns} from contact_requests q ${parties}
     where q.status = 'pending' and (q.from_agent_id, q.to_agent_id) in ((:one, :other), (:other, :one))`,
  ),
  findApproved: statement(
    'contact_requests.find_approved',
    `select ${columns} from contact_requests q ${parties}
     where q.status = 'approved' and q.from_agent_id = :from_id and q.to_agent_id = :to_id
     order by q.created_at desc, q.id desc limit 1`,
  ),
  findForAddressee: statement(
    'contact_requests.find_for_addressee',
    `select ${columns} from contact_requests q ${parties}
     where q.id = :id and q.to_agent_id = :to_id and ${isVisible} and ${notBlocked}`,
  ),
  findFromAgent: statement(
    'contact_requests.find_from_agent',
    `select ${columns} from contact_requests q ${parties}
     where (f.id = :key or f.canonical_handle = :key) and q.to_agent_id = :to_id and ${isVisible} and ${notBlocked}
     order by q.status = 'pending' desc, q.created_at desc, q.id desc limit 1`,
  ),
  findSent: statement(
    'contact_requests.find_sent',
    `select ${columns} from contact_requests q ${parties}
     where q.status = 'pending' and q.from_agent_id = :from_id and (q.id = :key or t.id = :key or t.canonical_handle = :key) and ${isVisible}`,
  ),
  listIncoming: statement(
    'contact_requests.list_incoming',
    `select ${columns} from contact_requests q ${parties} where q.to_agent_id = :agent_id and ${isVisible} and ${notBlocked} and ${page}`,
  ),
  listOutgoing: statement(
    'contact_requests.list_outgoing',
    `select ${columns} from contact_requests q ${parties} where q.from_agent_id = :agent_id and ${isVisible} and ${page}`,
  ),
  approve: statement(
    'contact_requests.approve',
    `update contact_requests set status = 'approved', decided_at = :now
     where status = 'pending' and (from_agent_id, to_agent_id) in ((:one, :other), (:other, :one))`,
  ),
  reject: statement(
    'contact_requests.reject',
    `update contact_requests set status = 'rejected', decided_at = :now where id = :id`,
  ),
  withdraw: statement(
    'contact_requests.withdraw',
    `update contact_requests set status = 'withdrawn', decided_at = :now
     where status = 'pending' and from_agent_id = :from_id and to_agent_id = :to_id`,
  ),
  // Locks in one order, so that two agents that retire at the same time do not deadlock.
  withdrawAllOf: statement(
    'contact_requests.withdraw_all_of',
    `with locked as (
       select id from contact_requests where status = 'pending' and (from_agent_id = :agent_id or to_agent_id = :agent_id) order by id for update
     )
     update contact_requests q set status = 'withdrawn', decided_at = :now from locked l where q.id = l.id`,
  ),
};

export interface ContactRequestFilter {
  direction: 'incoming' | 'outgoing';
  status: VisibleStatus;
  /** Position of the last row of the previous page. */
  before: { created_at: number; id: string } | null;
  limit: number;
}

export interface NewContactRequest {
  id: string;
  from_agent_id: string;
  to_agent_id: string;
  message: string | null;
  /** False while the addressee blocks the sender: `announce` returns the request later. */
  announced: boolean;
  created_at: number;
}

/** At most one request is pending in each direction between two agents. */
export function contactRequestsRepository(db: Queryable) {
  return {
    /** Inserts a pending request. */
    async insert(request: NewContactRequest): Promise<ContactRequestRow> {
      const { id, from_agent_id, to_agent_id, message, announced, created_at } = request;
      const values = { id, from_agent_id, to_agent_id, message, announced, created_at };
      const [row] = await query<ContactRequestRow>(db, statements.insert, values);
      if (!row) throw new Error('the contact request was not inserted');
      return row;
    },
    /** Marks the pending request in this direction as announced. Returns it if it was not announced before. */
    async announce(fromId: string, toId: string): Promise<ContactRequestRow | undefined> {
      return (await query<ContactRequestRow>(db, statements.announce, { from_id: fromId, to_id: toId }))[0];
    },
    /** The pending requests between two agents, in both directions. */
    findPending(one: string, other: string): Promise<ContactRequestRow[]> {
      return query<ContactRequestRow>(db, statements.findPending, { one, other });
    },
    /** The latest approved request in this direction. */
    async findApproved(fromId: string, toId: string): Promise<ContactRequestRow | undefined> {
      return (
        await query<ContactRequestRow>(db, statements.findApproved, { from_id: fromId, to_id: toId })
      )[0];
    },
    /** A request to an agent, unless its sender is blocked or either agent is retired. */
    async findForAddressee(toId: string, id: string): Promise<ContactRequestRow | undefined> {
      return (await query<ContactRequestRow>(db, statements.findForAddressee, { to_id: toId, id }))[0];
    },
    /** As findForAddressee, by id or canonical handle of the sender: the pending request, or else the latest. */
    async findFromAgent(toId: string, key: string): Promise<ContactRequestRow | undefined> {
      return (await query<ContactRequestRow>(db, statements.findFromAgent, { to_id: toId, key }))[0];
    },
    /** The pending request of an agent, by its id, or by id or canonical handle of the addressee; none if either agent is retired. */
    async findSent(fromId: string, key: string): Promise<ContactRequestRow | undefined> {
      return (await query<ContactRequestRow>(db, statements.findSent, { from_id: fromId, key }))[0];
    },
    /** Newest first. */
    list(agentId: string, filter: ContactRequestFilter): Promise<ContactRequestRow[]> {
      const { direction, status, before, limit } = filter;
      const list = direction === 'incoming' ? statements.listIncoming : statements.listOutgoing;
      return query<ContactRequestRow>(db, list, {
        agent_id: agentId,
        status,
        before_at: before?.created_at ?? null,
        before_id: before?.id ?? null,
        limit,
      });
    },
    /** Approves the pending requests between two agents, in both directions. */
    async approve(one: string, other: string, now: number): Promise<void> {
      await query(db, statements.approve, { one, other, now });
    },
    async reject(id: string, now: number): Promise<void> {
      await query(db, statements.reject, { id, now });
    },
    /** Withdraws the pending request in this direction. */
    async withdraw(fromId: string, toId: string, now: number): Promise<void> {
      await query(db, statements.withdraw, { from_id: fromId, to_id: toId, now });
    },
    /** Withdraws all pending requests from or to an agent, whose row must be locked. */
    async withdrawAllOf(agentId: string, now: number): Promise<void> {
      await query(db, statements.withdrawAllOf, { agent_id: agentId, now });
    },
  };
}
