import { statement, query } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import {
  type RequestDecision,
  type StoredDecision,
  storedDecisions,
  type StoredState,
  storedState,
} from '../stored-decisions.ts';

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

/** Sets the columns of a request that is no longer pending. */
const decided = `decided_at = :now, stored = null, effective_at = null`;

const page = `q.status = :status and (:before_at::bigint is null or (q.created_at, q.id) < (:before_at, :before_id))
     order by q.created_at desc, q.id desc limit :limit`;

const statements = {
  listIncoming: statement(
    'contact_requests.list_incoming',
    `select ${columns} from contact_requests q ${parties} where q.to_agent_id = :agent_id and ${isVisible} and ${notBlocked} and ${page}`,
  ),
  listOutgoing: statement(
    'contact_requests.list_outgoing',
    `select ${columns} from contact_requests q ${parties} where q.from_agent_id = :agent_id and ${isVisible} and ${page}`,
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
export const contactRequestsRepository = repository(
  {
    ...storedDecisions<RequestDecision>('contact_requests', `status = 'pending'`),
    /** Stores the answer of a person, unless another one is stored. Returns false when there is another one, or the request is not pending. */
    storeDecision: sql.hasRow<[id: string, stored: StoredDecision<RequestDecision>, effectiveAt: number]>(
      'contact_requests.store_decision(id, stored, effective_at)',
      `update contact_requests set stored = :stored::jsonb, effective_at = coalesce(effective_at, :effective_at)
       where id = :id and status = 'pending' and (effective_at is null or stored = :stored::jsonb) returning id`,
      (id, stored, effectiveAt) => ({ id, stored: JSON.stringify(stored), effective_at: effectiveAt }),
    ),
    /** The stored answers to requests to an agent, and why some could not be carried out. */
    listStored: sql.rows<[agentId: string], { request_id: string; stored: StoredState }>(
      'contact_requests.list_stored(agent_id)',
      `select q.id as request_id, ${storedState} as stored from contact_requests q
       where q.to_agent_id = :agent_id and q.status = 'pending' and q.stored is not null`,
    ),
    /** Inserts a pending request. */
    insert: sql.single<[request: NewContactRequest], ContactRequestRow>(
      'contact_requests.insert',
      `with q as (
         insert into contact_requests (id, from_agent_id, to_agent_id, message, status, announced, created_at)
         values (:id, :from_agent_id, :to_agent_id, :message, 'pending', :announced, :created_at) returning *
       )
       select ${columns} from q ${parties}`,
    ),
    /** Marks the pending request in this direction as announced. Returns it if it was not announced before. */
    announce: sql.row<[fromId: string, toId: string], ContactRequestRow>(
      'contact_requests.announce(from_id, to_id)',
      `with q as (
         update contact_requests set announced = true
         where status = 'pending' and not announced and from_agent_id = :from_id and to_agent_id = :to_id returning *
       )
       select ${columns} from q ${parties}`,
    ),
    /** The pending requests between two agents, in both directions. */
    findPending: sql.rows<[one: string, other: string], ContactRequestRow>(
      'contact_requests.find_pending(one, other)',
      `select ${columns} from contact_requests q ${parties}
       where q.status = 'pending' and (q.from_agent_id, q.to_agent_id) in ((:one, :other), (:other, :one))`,
    ),
    /** The latest approved request in this direction. */
    findApproved: sql.row<[fromId: string, toId: string], ContactRequestRow>(
      'contact_requests.find_approved(from_id, to_id)',
      `select ${columns} from contact_requests q ${parties}
       where q.status = 'approved' and q.from_agent_id = :from_id and q.to_agent_id = :to_id
       order by q.created_at desc, q.id desc limit 1`,
    ),
    /** A request to an agent, unless its sender is blocked or either agent is retired. */
    findForAddressee: sql.row<[toId: string, id: string], ContactRequestRow>(
      'contact_requests.find_for_addressee(to_id, id)',
      `select ${columns} from contact_requests q ${parties}
       where q.id = :id and q.to_agent_id = :to_id and ${isVisible} and ${notBlocked}`,
    ),
    /** As findForAddressee, by id or canonical handle of the sender: the pending request, or else the latest. */
    findFromAgent: sql.row<[toId: string, key: string], ContactRequestRow>(
      'contact_requests.find_from_agent(to_id, key)',
      `select ${columns} from contact_requests q ${parties}
       where (f.id = :key or f.canonical_handle = :key) and q.to_agent_id = :to_id and ${isVisible} and ${notBlocked}
       order by q.status = 'pending' desc, q.created_at desc, q.id desc limit 1`,
    ),
    /** The pending request of an agent, by its id, or by id or canonical handle of the addressee; none if either agent is retired. */
    findSent: sql.row<[fromId: string, key: string], ContactRequestRow>(
      'contact_requests.find_sent(from_id, key)',
      `select ${columns} from contact_requests q ${parties}
       where q.status = 'pending' and q.from_agent_id = :from_id and (q.id = :key or t.id = :key or t.canonical_handle = :key) and ${isVisible}`,
    ),
    /** Approves the pending requests between two agents, in both directions. */
    approve: sql.run<[one: string, other: string, now: number]>(
      'contact_requests.approve(one, other, now)',
      `update contact_requests set status = 'approved', ${decided}
       where status = 'pending' and (from_agent_id, to_agent_id) in ((:one, :other), (:other, :one))`,
    ),
    reject: sql.run<[id: string, now: number]>(
      'contact_requests.reject(id, now)',
      `update contact_requests set status = 'rejected', ${decided} where id = :id`,
    ),
    /** Withdraws the pending request in this direction. */
    withdraw: sql.run<[fromId: string, toId: string, now: number]>(
      'contact_requests.withdraw(from_id, to_id, now)',
      `update contact_requests set status = 'withdrawn', ${decided}
       where status = 'pending' and from_agent_id = :from_id and to_agent_id = :to_id`,
    ),
    /**
     * Withdraws all pending requests from or to an agent, whose row must be locked. Locks in one order, so that two agents that retire at
     * the same time do not deadlock.
     */
    withdrawAllOf: sql.run<[agentId: string, now: number]>(
      'contact_requests.withdraw_all_of(agent_id, now)',
      `with locked as (
         select id from contact_requests where status = 'pending' and (from_agent_id = :agent_id or to_agent_id = :agent_id) order by id for update
       )
       update contact_requests q set status = 'withdrawn', ${decided} from locked l where q.id = l.id`,
    ),
  },
  (db) => ({
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
  }),
);
