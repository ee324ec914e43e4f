import type { FailedAttempt } from '../../../packages/core/src/domain/inbox.ts';
import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { repository, sql } from '../sql.ts';
import type { DeliveryRow } from '../webhooks/deliveries.ts';
import type { MessageRow } from './messages.ts';

/** What an inbox did with a message. Times are in milliseconds. */
export interface InboxTrace {
  agent_handle: string;
  state: 'queued' | 'ready' | 'leased' | 'dead' | 'handled' | 'recorded';
  attempts: number;
  /** The instance that has the lease, or had the last one. */
  consumer: string | null;
  /** The end of the lease. */
  expires_at: number | null;
  reasons: FailedAttempt[];
  updated_at: number;
}

/** The delivery of a message to a webhook. */
export type WebhookTrace = Pick<
  DeliveryRow,
  | 'webhook_id'
  | 'state'
  | 'attempts'
  | 'next_at'
  | 'last_attempt_at'
  | 'last_status'
  | 'last_error'
  | 'last_duration_ms'
> & { agent_id: string; url: string; description: string };

/** What became of a message at an agent of another system. */
export interface RemoteTrace {
  outcome: 'accepted' | 'undeliverable' | 'unknown';
  remote_task_id: string | null;
  error: { code: string; message: string } | null;
  created_at: number;
}

/** The event of a message is stored in its transaction, whose end can be this much later. */
const maxTransactionMs = 60_000;
const limit = 50;

/** What happened to one message. */
export const messageTracesRepository = repository({
  /** In the inboxes of these agents. */
  listInboxes: sql.rows<
    [message: Pick<MessageRow, 'thread_id' | 'sequence'>, agentIds: readonly string[]],
    InboxTrace
  >(
    'message_traces.list_inboxes(..., agent_ids)',
    `select a.canonical_handle as agent_handle, i.state, i.attempts, i.consumer, i.expires_at, i.reasons, i.updated_at
     from inbox_items i join agents a on a.id = i.agent_id
     where i.agent_id = any(:agent_ids) and i.thread_id = :thread_id and i.sequence = :sequence and i.event_type = 'message.created'
     order by a.canonical_handle limit ${limit}`,
  ),
  /** To the webhooks of these agents. */
  listWebhooks: sql.rows<
    [message: Pick<MessageRow, 'id' | 'created_at'>, agentIds: readonly string[]],
    WebhookTrace
  >(
    'message_traces.list_webhooks',
    `select w.agent_id, w.url, w.description, d.webhook_id, d.state, d.attempts, d.next_at, d.last_attempt_at, d.last_status, d.last_error,
       d.last_duration_ms
     from webhooks w
     join webhook_deliveries d on d.webhook_id = w.id and d.event_id >= :min_id and d.event_id < :max_id and d.event_type = 'message.created'
     join events e on e.id = d.event_id and e.id >= :min_id and e.id < :max_id and e.message_id = :id
     where w.agent_id = any(:agent_ids) order by d.webhook_id limit ${limit}`,
    ({ id, created_at }, agentIds) => ({
      id,
      agent_ids: agentIds,
      min_id: minIdAt('event', created_at - maxTransactionMs),
      max_id: minIdAt('event', created_at + maxTransactionMs),
    }),
  ),
  findRemote: sql.row<[id: string], RemoteTrace>(
    'message_traces.find_remote',
    'select outcome, remote_task_id, error, created_at from remote_messages where message_id = :id',
  ),
});
