import type { DeliveryState } from '../../../packages/core/src/domain/webhooks.ts';
import { statement, query } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

/** The delivery of one event to one webhook. The two ids are its key. Times are in milliseconds. */
export interface DeliveryRow {
  webhook_id: string;
  event_id: string;
  event_type: string;
  /** The number of the event in the feed of the webhook's agent. */
  number: number;
  state: DeliveryState;
  attempts: number;
  /** The time of the next attempt; null when there is none. */
  next_at: number | null;
  last_attempt_at: number | null;
  last_status: number | null;
  last_error: string | null;
  last_duration_ms: number | null;
  /** The beginning of the response to a failed attempt. */
  last_response: string | null;
  created_at: number;
}

/** The result of an attempt, and the state that follows from it. */
export interface AttemptResult {
  state: DeliveryState;
  next_at: number | null;
  at: number;
  status: number | null;
  error: string | null;
  /** Milliseconds; null if nothing was sent. */
  duration_ms: number | null;
  response: string | null;
}

const columns = `webhook_id, event_id, event_type, number, state, attempts, next_at, last_attempt_at, last_status, last_error,
  last_duration_ms, last_response, created_at`;

const page = (filter: string): string =>
  `select ${columns} from webhook_deliveries where webhook_id = :webhook_id and (:before::text is null or event_id < :before) ${filter}
   order by event_id desc limit :limit`;

/** Starts a delivery again, without earlier attempts. It keeps its position in the log. */
const resetColumns = `state = 'pending', attempts = 0, next_at = :now`;

const statements = {
  list: statement('webhook_deliveries.list', page('')),
  listIn: statement('webhook_deliveries.list_in', page('and state = :state')),
};

/** The log of webhook deliveries. Its pending rows define what is to be sent, and when. */
export const webhookDeliveriesRepository = repository(
  {
    find: sql.row<[webhookId: string, eventId: string], DeliveryRow>(
      'webhook_deliveries.find(webhook_id, event_id)',
      `select ${columns} from webhook_deliveries where webhook_id = :webhook_id and event_id = :event_id`,
    ),
    /** Claims up to `limit` due deliveries, oldest first. No other process gets them for `leaseMs`. */
    claim: sql.rows<[webhookId: string, now: number, leaseMs: number, limit: number], DeliveryRow>(
      'webhook_deliveries.claim(webhook_id, now, lease_ms, limit)',
      `with due as (
         select webhook_id, event_id from webhook_deliveries
         where webhook_id = :webhook_id and state = 'pending' and next_at <= :now order by next_at limit :limit for update skip locked
       )
       update webhook_deliveries d set next_at = :now::bigint + :lease_ms::bigint from due
       where d.webhook_id = due.webhook_id and d.event_id = due.event_id
       returning d.webhook_id, d.event_id, d.event_type, d.number, d.state, d.attempts, d.next_at, d.last_attempt_at,
         d.last_status, d.last_error, d.last_duration_ms, d.last_response, d.created_at`,
    ),
    /** Records an attempt. Changes nothing when the delivery is no longer pending, unless the attempt succeeded. */
    recordAttempt: sql.run<[webhookId: string, eventId: string, result: AttemptResult]>(
      'webhook_deliveries.record_attempt(webhook_id, event_id, ...)',
      `update webhook_deliveries set state = :state, next_at = :next_at, last_attempt_at = :at, last_status = :status, last_error = :error,
         last_duration_ms = :duration_ms, last_response = :response, attempts = attempts + 1
       where webhook_id = :webhook_id and event_id = :event_id and (state = 'pending' or :state = 'delivered')`,
    ),
    /** Marks a pending delivery as not needed. */
    skip: sql.run<[webhookId: string, eventId: string]>(
      'webhook_deliveries.skip(webhook_id, event_id)',
      `update webhook_deliveries set state = 'skipped', next_at = null
       where webhook_id = :webhook_id and event_id = :event_id and state = 'pending'`,
    ),
    /** Marks up to `limit` pending deliveries as failed, the next due first; returns how many. */
    abandon: sql.rowCount<[webhookId: string, error: string, limit: number]>(
      'webhook_deliveries.abandon(webhook_id, error, limit)',
      `update webhook_deliveries set state = 'failed', next_at = null, last_error = :error
       where webhook_id = :webhook_id and state = 'pending' and event_id in (
         select event_id from webhook_deliveries where webhook_id = :webhook_id and state = 'pending' order by next_at limit :limit)
       returning 1`,
    ),
    /**
     * Up to `limit` webhooks with deliveries that are due at `time` (ms), by id, after this id. The cost per webhook does not depend on the
     * number of its pending deliveries.
     */
    listDueWebhooks: sql.values<[time: number, after: string, limit: number], string>(
      'webhook_deliveries.list_due_webhooks(time, after, limit)',
      `with recursive waiting as (
         (select webhook_id from webhook_deliveries where state = 'pending' and webhook_id > :after order by webhook_id limit 1)
         union all
         select (select webhook_id from webhook_deliveries where state = 'pending' and webhook_id > w.webhook_id
                 order by webhook_id limit 1)
         from waiting w where w.webhook_id is not null
       )
       select webhook_id from waiting w
       where exists (select from webhook_deliveries where webhook_id = w.webhook_id and state = 'pending' and next_at <= :time)
       limit :limit`,
    ),
    /** Starts one delivery again. */
    replay: sql.row<[webhookId: string, eventId: string, now: number], DeliveryRow>(
      'webhook_deliveries.replay(webhook_id, event_id, now)',
      `update webhook_deliveries set ${resetColumns} where webhook_id = :webhook_id and event_id = :event_id returning ${columns}`,
    ),
    /** Starts up to `limit` failed deliveries again, from the event `from` on, oldest first; returns how many. */
    replayFailed: sql.rowCount<[webhookId: string, from: string, now: number, limit: number]>(
      'webhook_deliveries.replay_failed(webhook_id, from, now, limit)',
      `update webhook_deliveries set ${resetColumns} where webhook_id = :webhook_id and event_id in (
         select event_id from webhook_deliveries
         where webhook_id = :webhook_id and state = 'failed' and event_id >= :from order by event_id limit :limit)
       returning 1`,
    ),
    /**
     * Removes up to `limit` finished deliveries that were created before `time` (ms); returns how many. By ctid: the plan reads exactly
     * these rows, whatever number the planner expects.
     */
    removeBefore: sql.rowCount<[time: number, limit: number]>(
      'webhook_deliveries.remove_before(time, limit)',
      `delete from webhook_deliveries where ctid = any (array(
         select ctid from webhook_deliveries where created_at < :time and state <> 'pending' order by created_at limit :limit))
         and created_at < :time and state <> 'pending'
       returning 1`,
    ),
  },
  (db) => ({
    /** Newest first, before the event `before` unless it is null, in one state unless that is null. */
    list(
      webhookId: string,
      { before, state, limit }: { before: string | null; state: DeliveryState | null; limit: number },
    ): Promise<DeliveryRow[]> {
      const values = { webhook_id: webhookId, before, limit };
      return state === null
        ? query<DeliveryRow>(db, statements.list, values)
        : query<DeliveryRow>(db, statements.listIn, { ...values, state });
    },
  }),
);
