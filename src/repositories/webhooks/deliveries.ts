import type { DeliveryState } from '../../domain/webhooks.ts';
import { type Queryable, statement, query } from '../queryable.ts';

/** What becomes of one event at one webhook; the two together name it. Times in milliseconds. */
export interface DeliveryRow {
  webhook_id: string;
  event_id: string;
  event_type: string;
  /** Of the event in the feed of the webhook's agent. */
  number: number;
  state: DeliveryState;
  attempts: number;
  /** When it is tried next, if it is. */
  next_at: number | null;
  last_attempt_at: number | null;
  last_status: number | null;
  last_error: string | null;
  created_at: number;
}

/** An attempt that was made, and what follows from it. */
export interface AttemptResult {
  state: DeliveryState;
  next_at: number | null;
  at: number;
  status: number | null;
  error: string | null;
}

const columns = `webhook_id, event_id, event_type, number, state, attempts, next_at, last_attempt_at, last_status, last_error,
  created_at`;

const page = (filter: string): string =>
  `select ${columns} from webhook_deliveries where webhook_id = :webhook_id and (:before::text is null or event_id < :before) ${filter}
   order by event_id desc limit :limit`;

/** Begins anew, as if nothing had been tried. What was delivered keeps its place in the log, and is posted once more. */
const resetColumns = `state = 'pending', attempts = 0, next_at = :now`;

const statements = {
  find: statement(
    'webhook_deliveries.find',
    `select ${columns} from webhook_deliveries where webhook_id = :webhook_id and event_id = :event_id`,
  ),
  list: statement('webhook_deliveries.list', page('')),
  listIn: statement('webhook_deliveries.list_in', page('and state = :state')),
  claim: statement(
    'webhook_deliveries.claim',
    `with due as (
       select webhook_id, event_id from webhook_deliveries
       where webhook_id = :webhook_id and state = 'pending' and next_at <= :now order by next_at limit :limit for update skip locked
     )
     update webhook_deliveries d set next_at = :now::bigint + :lease::bigint from due
     where d.webhook_id = due.webhook_id and d.event_id = due.event_id
     returning d.webhook_id, d.event_id, d.event_type, d.number, d.state, d.attempts, d.next_at, d.last_attempt_at,
       d.last_status, d.last_error, d.created_at`,
  ),
  recordAttempt: statement(
    'webhook_deliveries.settle',
    `update webhook_deliveries set state = :state, next_at = :next_at, last_attempt_at = :at, last_status = :status, last_error = :error,
       attempts = attempts + 1
     where webhook_id = :webhook_id and event_id = :event_id and (state = 'pending' or :state = 'delivered')`,
  ),
  skip: statement(
    'webhook_deliveries.skip',
    `update webhook_deliveries set state = 'skipped', next_at = null
     where webhook_id = :webhook_id and event_id = :event_id and state = 'pending'`,
  ),
  abandon: statement(
    'webhook_deliveries.abandon',
    `update webhook_deliveries set state = 'failed', next_at = null, last_error = :why
     where webhook_id = :webhook_id and state = 'pending' and event_id in (
       select event_id from webhook_deliveries where webhook_id = :webhook_id and state = 'pending' order by next_at limit :limit)
     returning 1`,
  ),
  deliveredSince: statement(
    'webhook_deliveries.delivered_since',
    `select 1 from webhook_deliveries where webhook_id = :webhook_id and state = 'delivered' and last_attempt_at >= :time
     order by event_id desc limit 1`,
  ),
  listDueWebhooks: statement(
    'webhook_deliveries.due',
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
  replay: statement(
    'webhook_deliveries.replay',
    `update webhook_deliveries set ${resetColumns} where webhook_id = :webhook_id and event_id = :event_id returning ${columns}`,
  ),
  replayFailed: statement(
    'webhook_deliveries.replay_failed',
    `update webhook_deliveries set ${resetColumns} where webhook_id = :webhook_id and event_id in (
       select event_id from webhook_deliveries
       where webhook_id = :webhook_id and state = 'failed' and event_id >= :from order by event_id limit :limit)
     returning 1`,
  ),
  /** By place in the table: however many rows a plan expects, it goes to these and no others. */
  removeBefore: statement(
    'webhook_deliveries.remove_before',
    `delete from webhook_deliveries where ctid = any (array(
       select ctid from webhook_deliveries where created_at < :time and state <> 'pending' order by created_at limit :limit))
       and created_at < :time and state <> 'pending'
     returning 1`,
  ),
};

/** The log of what is posted. A row that is pending is the truth about what is still to be posted, and when. */
export function webhookDeliveriesRepository(db: Queryable) {
  return {
    async find(webhookId: string, eventId: string): Promise<DeliveryRow | undefined> {
      return (await query<DeliveryRow>(db, statements.find, { webhook_id: webhookId, event_id: eventId }))[0];
    },
    /** Newest first, before the event `before` if it names one, in one state if it names that. */
    list(
      webhookId: string,
      only: { before: string | null; state: DeliveryState | null; limit: number },
    ): Promise<DeliveryRow[]> {
      const { before, state, limit } = only;
      const values = { webhook_id: webhookId, before, limit };
      return state === null
        ? query<DeliveryRow>(db, statements.list, values)
        : query<DeliveryRow>(db, statements.listIn, { ...values, state });
    },
    /** Takes up to `limit` that are due, oldest first. Nobody else gets them for `lease` ms. */
    claim(webhookId: string, now: number, lease: number, limit: number): Promise<DeliveryRow[]> {
      return query<DeliveryRow>(db, statements.claim, { webhook_id: webhookId, now, lease, limit });
    },
    /** What an attempt came to. It changes nothing where the delivery was given up meanwhile, unless it got through. */
    async recordAttempt(webhookId: string, eventId: string, result: AttemptResult): Promise<void> {
      const { state, next_at, at, status, error } = result;
      await query(db, statements.recordAttempt, {
        webhook_id: webhookId,
        event_id: eventId,
        state,
        next_at,
        at,
        status,
        error,
      });
    },
    /** It need not be posted. */
    async skip(webhookId: string, eventId: string): Promise<void> {
      await query(db, statements.skip, { webhook_id: webhookId, event_id: eventId });
    },
    /** Gives up what is to be posted, soonest first and up to `limit`; answers how many. */
    async abandon(webhookId: string, why: string, limit: number): Promise<number> {
      return (await query(db, statements.abandon, { webhook_id: webhookId, why, limit })).length;
    },
    /** Whether anything got through at that time or later. */
    async deliveredSince(webhookId: string, time: number): Promise<boolean> {
      return (await query(db, statements.deliveredSince, { webhook_id: webhookId, time })).length > 0;
    },
    /**
     * The next webhooks after this one, in the order of their ids and up to `limit`, with deliveries that are due as of `time`. Each
     * costs the same few steps, however much one of them is behind.
     */
    async listDueWebhooks(time: number, after: string, limit: number): Promise<string[]> {
      const rows = await query<{ webhook_id: string }>(db, statements.listDueWebhooks, {
        time,
        after,
        limit,
      });
      return rows.map((row) => row.webhook_id);
    },
    async replay(webhookId: string, eventId: string, now: number): Promise<DeliveryRow | undefined> {
      return (
        await query<DeliveryRow>(db, statements.replay, { webhook_id: webhookId, event_id: eventId, now })
      )[0];
    },
    /** Those that failed for good, from the event `from` on, up to `limit`, oldest first; answers how many. */
    async replayFailed(webhookId: string, from: string, now: number, limit: number): Promise<number> {
      return (await query(db, statements.replayFailed, { webhook_id: webhookId, from, now, limit })).length;
    },
    /** Removes up to `limit` that were noted before `time` (ms) and are no longer tried; answers how many. */
    async removeBefore(time: number, limit: number): Promise<number> {
      return (await query(db, statements.removeBefore, { time, limit })).length;
    },
  };
}
