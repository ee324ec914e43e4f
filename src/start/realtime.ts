import type { TokenRow } from '../repositories/auth/tokens.ts';
import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../compose.ts';
import { createStreamMetrics } from '../ops/stream-metrics.ts';
import { handledTopic, inboxTopic } from '../../packages/core/src/domain/inbox.ts';
import { withdrawnTopic } from '../../packages/core/src/domain/withdrawals.ts';
import { createFeedWatch } from '../realtime/feed-watch.ts';
import { createHandledMarks } from '../realtime/handled-marks.ts';
import { createRealtime } from '../realtime/create.ts';
import { createReceipts } from '../realtime/receipts.ts';
import { parseRevocation, revocationMessages, revocationTopic } from '../services/auth/revocations.ts';
import { createStreamTickets } from '../services/auth/stream-tickets.ts';
import { createTokens, isEndedBy, type Revocation, toResourceUrls } from '../services/auth/tokens.ts';
import { moveHandledMarks } from '../services/inbox/handled.ts';
import { recordDeliveries } from '../services/threads/receipts.ts';
import { createBatchLoader } from '../shared/batch-loader.ts';
import { createWarningLog } from './connections.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { ApiOverrides } from './overrides.ts';
import { steadyNow } from '../shared/clock.ts';

/** Tokens, streams and delivery receipts, and the revocations that connect them. */
export async function startRealtime(core: Core, lifecycle: Lifecycle, overrides: ApiOverrides) {
  const { config, unitOfWork, db, bus, metrics, clock } = core;
  const log = createWarningLog(core.logger);
  const tokens = createTokens({
    find: createTokenFinder(unitOfWork),
    resources: toResourceUrls(config.PUBLIC_URL),
    offsetMs: clock.steadyOffsetMs,
    ...(overrides.now && { now: overrides.now }),
  });
  const receipts = createReceipts({
    write: (batch) => unitOfWork.write(system, (work) => recordDeliveries(work, batch)),
    log,
  });
  lifecycle.onStop('receipts', 2_000, () => receipts.close());
  const watch = createFeedWatch(bus);
  const realtime = createRealtime({
    feed: db.feed,
    presence: db.presence,
    ...(overrides.hasReceipts !== false && { receipts }),
    bus,
    watch,
    listReadAgents: (agentId, limit) => db.conversations.listAgents(agentId, limit),
    cursors: core.settings.cursors,
    log,
    metrics: createStreamMetrics(metrics),
    async listValidTokens(ids) {
      const since = steadyNow();
      const hashes = ids.map((id) => Buffer.from(id, 'base64url'));
      const valid = await unitOfWork.read(system, (work) => work.db.tokens.listValid(hashes, clock.now()));
      const validIds = new Set(valid.map((hash) => hash.toString('base64url')));
      tokens.extend(validIds, since);
      return validIds;
    },
    ...overrides.realtime,
  });
  const handledMarks = createHandledMarks({
    write: (agentIds) => moveHandledMarks(unitOfWork, agentIds),
    log,
  });
  lifecycle.onStop('handled marks', 2_000, () => handledMarks.close());
  core.onCommit(({ local_messages }) => {
    const handled = local_messages.filter(({ topic }) => topic === handledTopic);
    handledMarks.add(handled.map(({ body }) => body));
  });
  core.onCommit(realtime.fanOut);
  core.timelines.onChange(realtime.forgetTimeline);
  metrics.countStreams(realtime.stats);
  lifecycle.onStop('streams', 5_000, () => realtime.close());
  const stopRelay = await core.eventRelay.start({
    hasReaders: () => [...realtime.stats().values()].some((count) => count > 0),
    onCommit: realtime.fanOut,
    announceMs: overrides.announceMs,
  });
  lifecycle.onStop('event relay', 1_000, stopRelay);

  function revoke(revocation: Revocation): void {
    tokens.forget(revocation);
    realtime.revoke((actor) => isEndedBy(revocation, actor));
    // The leases of these tokens have ended.
    realtime.notifyInboxes();
  }
  bus.subscribe(inboxTopic, (agentId) => realtime.notifyInboxes(agentId));
  bus.subscribe(withdrawnTopic, realtime.forgetMessage);
  bus.subscribe(revocationTopic, (body) => revoke(parseRevocation(body)));

  return {
    tokens,
    tickets: createStreamTickets({ unitOfWork, tokens, clock }),
    realtime,
    watch,
    /** Applies revocations in this process at once, then publishes them to the others. A bus that is down is only logged. */
    async publishRevocations(revocations: readonly Revocation[]): Promise<void> {
      if (revocations.length === 0) return;
      revocations.forEach(revoke);
      await bus
        .publish(revocationMessages(revocations))
        .catch((error: unknown) => log('revocation not published', error));
    },
  };
}

export type LiveParts = Awaited<ReturnType<typeof startRealtime>>;

/** Looks tokens up in batches: many clients that reconnect at once must not queue for connections one by one. */
function createTokenFinder(unitOfWork: Core['unitOfWork']) {
  const find = createBatchLoader<Buffer, { row: TokenRow | undefined }>({
    key: (hash) => hash.toString('base64url'),
    async load(hashes) {
      const rows = await unitOfWork.read(system, (work) => work.db.tokens.findAll(hashes));
      return hashes.map((hash) => ({ row: rows.find(({ token_hash }) => token_hash.equals(hash)) }));
    },
    maxBatchSize: 100,
    maxConcurrent: 2,
  });
  return async (hash: Buffer) => (await find(hash)).row;
}
