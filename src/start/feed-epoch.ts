import type { Core } from '../compose.ts';
import { jobForEvent } from '../jobs/outbox-jobs.ts';
import type { Connection } from '../platform/database/database.ts';
import { detectRestore } from '../services/feed-epoch.ts';
import { createUnitOfWork } from '../work/unit-of-work.ts';

type Parts = Pick<Core, 'unitOfWork' | 'timelines' | 'logger' | 'clock' | 'settings'>;

/**
 * Gives the feeds of a restored database a new range of positions. Does the same whenever a standby is promoted while this process runs:
 * before its first statement there, because the standby can lack commits whose positions clients know.
 */
export async function openFeedEpoch(core: Parts): Promise<void> {
  report(core, await detectRestore(core.unitOfWork));
  core.timelines.onChange(core.settings.sendContext.clear);
  core.timelines.start(async (connection) => {
    report(core, await detectRestore(openWorkOn(connection, core)));
  });
}

function report({ logger }: Parts, feeds: number | null): void {
  if (feeds !== null && feeds > 0)
    logger.warn({ feeds }, 'database restored, or standby promoted: feeds start a new epoch');
}

/** Units of work on one connection. They only change feeds and write to the audit log. */
function openWorkOn(database: Connection, { clock, settings }: Parts) {
  return createUnitOfWork({
    database,
    now: clock.now,
    settings,
    jobOf: jobForEvent,
    publish: () => undefined,
    onRollback: async () => undefined,
  });
}
