import type { Command } from 'commander';
import type { Core } from '../../compose.ts';
import { pendingMigrations } from '../../platform/database/migrations.ts';
import { printing, reading } from '../actions.ts';
import { withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { resultCommand } from '../output.ts';
import { findRunningWorkers } from './worker-roles.ts';

/** `ams stats` */
export function statsCommand(io: CommandIo): Command {
  return resultCommand('stats', 'count accounts, agents, threads, messages sent and webhooks').action(
    reading(io, ({ db: { operatorLists } }) => operatorLists.countTotals()),
  );
}

/** `ams status` */
export function statusCommand(io: CommandIo): Command {
  return resultCommand(
    'status',
    'show release, API, workers and waiting jobs; use doctor to find problems',
  ).action(printing(io, () => withCore(io, readStatus)));
}

async function readStatus(core: Core) {
  const { config, database, db } = core;
  const [pending, workers, outbox, api] = await Promise.all([
    pendingMigrations(database),
    findRunningWorkers(core),
    db.outbox.readAge(),
    readReadiness(config.PUBLIC_URL),
  ]);
  return {
    version: config.VERSION,
    url: config.PUBLIC_URL,
    api,
    workers: workers.count,
    missing_roles: workers.missing,
    pending_migrations: pending.length,
    waiting_jobs: outbox.rows,
    oldest_job_at: outbox.oldest,
  };
}

/** Returns what /readyz says of itself, or `unreachable`. */
async function readReadiness(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) });
    const body: unknown = await response.json();
    const status = typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined;
    return typeof status === 'string' ? status : `status ${response.status}`;
  } catch {
    return 'unreachable';
  }
}
