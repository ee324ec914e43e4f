import { repository, sql } from '../sql.ts';

/** Where a client gets the updates of a task. Times are in milliseconds. */
export interface PushConfigRow {
  task_id: string;
  id: string;
  client_id: string;
  url: string;
  /** Of the header Authorization; null without one. */
  scheme: string | null;
  /** Encrypted, as is the token. */
  credentials: Buffer | null;
  token: Buffer | null;
  /** Whether the client named the mailbox extension. */
  has_mailbox: boolean;
  /** Of A2A: a client of 0.3 gets the task, in place of its updates. */
  version: '1.0' | '0.3';
  /** The generation of the last update that was delivered. */
  position: number;
  attempts: number;
  /** Null: stopped, or all updates of an ended task were delivered. */
  next_at: number | null;
  last_error: string | null;
}

export type NewPushConfig = Omit<PushConfigRow, 'attempts' | 'next_at' | 'last_error'>;

/** A config that a worker has until `next_at`. */
export interface ClaimedPushConfig extends PushConfigRow {
  agent_id: string;
  next_at: number;
}

export type PushState = Pick<PushConfigRow, 'position' | 'attempts' | 'next_at' | 'last_error'>;

const columns = `c.task_id, c.id, c.client_id, c.url, c.scheme, c.credentials, c.token, c.has_mailbox, c.version, c.position, c.attempts, c.next_at, c.last_error`;

/** Configs `c` with an update to send, or of an ended task: they are then stopped. */
const due = `a2a_push_configs c join tasks t on t.id = c.task_id
  where c.next_at <= :now and (c.position < t.generation or t.ended_at is not null)`;

/** The name of a config in jobs. */
const key = `c.task_id || '/' || c.id`;

export const pushConfigsRepository = repository({
  /** Oldest first. */
  list: sql.rows<[taskId: string], PushConfigRow>(
    'a2a_push_configs.list',
    `select ${columns} from a2a_push_configs c where c.task_id = :task_id order by c.created_at, c.id`,
  ),
  find: sql.row<[taskId: string, id: string], PushConfigRow>(
    'a2a_push_configs.find(task_id, id)',
    `select ${columns} from a2a_push_configs c where c.task_id = :task_id and c.id = :id`,
  ),
  /** Inserts a config, or replaces the one with this id, whose position stays: what its receiver does not have yet is due now. */
  put: sql.run<[config: NewPushConfig & { now: number }]>(
    'a2a_push_configs.put',
    `insert into a2a_push_configs (task_id, id, client_id, url, scheme, credentials, token, has_mailbox, version, position, next_at, created_at)
     values (:task_id, :id, :client_id, :url, :scheme, :credentials, :token, :has_mailbox, :version, :position, :now, :now)
     on conflict (task_id, id) do update set url = excluded.url, scheme = excluded.scheme, credentials = excluded.credentials, token = excluded.token,
       has_mailbox = excluded.has_mailbox, version = excluded.version, attempts = 0, next_at = excluded.next_at, last_error = null`,
  ),
  remove: sql.run<[taskId: string, id: string]>(
    'a2a_push_configs.remove(task_id, id)',
    'delete from a2a_push_configs where task_id = :task_id and id = :id',
  ),
  /** Removes the configs that agents of an organization that are linked with this member created. */
  removeOfMember: sql.run<[organizationId: string, accountId: string]>(
    'a2a_push_configs.remove_of_member(organization_id, account_id)',
    `delete from a2a_push_configs c using agents a
     where a.owner_id = :organization_id and a.member_account_id = :account_id and c.client_id = a.id`,
  ),
  /** No other process gets the config for `leaseMs`. Returns undefined while another one has it, or before it is due. */
  claim: sql.row<[taskId: string, id: string, now: number, leaseMs: number], ClaimedPushConfig>(
    'a2a_push_configs.claim(task_id, id, now, lease_ms)',
    `update a2a_push_configs c set next_at = :now::bigint + :lease_ms::bigint from tasks t
     where c.task_id = :task_id and c.id = :id and t.id = c.task_id and c.next_at <= :now returning ${columns}, t.agent_id`,
  ),
  /** Stores the state of a claimed config. Returns false if the lease has ended, or the client has replaced the config since the claim. */
  store: sql.hasRow<[config: { task_id: string; id: string }, lease: number, state: PushState]>(
    'a2a_push_configs.store',
    `update a2a_push_configs set position = :position, attempts = :attempts, next_at = :next_at, last_error = :last_error
     where task_id = :task_id and id = :id and next_at = :lease returning id`,
    ({ task_id, id }, lease, { position, attempts, next_at, last_error }) => ({
      task_id,
      id,
      lease,
      position,
      attempts,
      next_at,
      last_error,
    }),
  ),
  /** The names of up to `limit` configs after this one that are due at `now`. */
  listDue: sql.values<[now: number, after: string, limit: number], string>(
    'a2a_push_configs.list_due(now, after, limit)',
    `select ${key} from ${due} and ${key} > :after order by 1 limit :limit`,
  ),
  /** Whether a config is one of `listDue`. */
  isDue: sql.hasRow<[taskId: string, id: string, now: number]>(
    'a2a_push_configs.is_due(task_id, id, now)',
    `select 1 from ${due} and c.task_id = :task_id and c.id = :id`,
  ),
});
