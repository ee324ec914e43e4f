import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Core } from '../../compose.ts';
import { type Config, ConfigError, loadConfig } from '../../config.ts';
import { maxAttachmentBytes } from '../../domain/attachments/attachments.ts';
import { minIdAt, timeOfId } from '../../domain/ids.ts';
import { coveredUntil } from '../../domain/partitions.ts';
import { describeError } from '../../shared/error-log.ts';
import { findOtherInstances, describeSharedQueues } from '../../start/instance-guard.ts';
import { pendingMigrations } from '../../platform/database/migrations.ts';
import { createClamdScanner, pingClamd } from '../../platform/scanning/clamd.ts';
import type { ScannedFile } from '../../platform/scanning/scanner.ts';
import { readFeedEpoch } from '../../services/feed-epoch.ts';
import { checkReplicas, checkDatabaseLimits } from './database-checks.ts';
import { resultCommand, formatJson } from '../output.ts';
import { waitForBus, withCore } from '../core.ts';
import type { CommandIo } from '../io.ts';
import { findRunningWorkers } from './worker-roles.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Milliseconds: workers that are there begin sooner, and the sweep has come by. */
const maxWaitMs = 60_000;

/** Days: an event stays one day longer than what leads to it, and is then removed within the next. */
const removalDelayDays = 2;

/** What the scanner must take: as many bytes as an attachment may have. */
const maxSizeFile: ScannedFile = {
  size_bytes: maxAttachmentBytes,
  sha256: '',
  read: () => Promise.resolve(Readable.from([Buffer.alloc(maxAttachmentBytes)])),
};

interface Finding {
  part: string;
  ok: boolean;
  detail: string;
  /** What to do when it is not well. */
  advice?: string;
}

interface Check {
  part: string;
  /** Says what it found, or throws the reason why it is not well. */
  run(core: Core): Promise<string>;
  /** What to do when it is not well. */
  advice: string | ((config: Config) => string);
}

const checks: Check[] = [
  {
    part: 'database',
    async run({ database }) {
      const [row] = await database.query<{ server_version: string }>({ text: 'show server_version' }, []);
      return `PostgreSQL ${row?.server_version}`;
    },
    advice: 'start PostgreSQL, or correct DATABASE_URL',
  },
  {
    part: 'schema',
    async run({ config }) {
      const pending = await pendingMigrations(config.DATABASE_DIRECT_URL);
      if (pending.length === 0) return 'up to date';
      throw new Error(`${pending.length} migrations have not run: ${pending.join(', ')}`);
    },
    advice: 'run: npm run migrate',
  },
  {
    part: 'limits',
    run: checkDatabaseLimits,
    advice:
      'set them at the role of DATABASE_URL: alter role … set statement_timeout = …, set lock_timeout = …; see "pgbouncer" in docs/operations.md',
  },
  {
    part: 'replicas',
    run: ({ replicas }) => checkReplicas(replicas),
    advice:
      'start the standby, let it stream from the database of DATABASE_URL, or correct DATABASE_REPLICA_URL; until then the database answers alone',
  },
  {
    part: 'queues',
    async run({ queues, config }) {
      await queues.check();
      return backendName(config);
    },
    advice:
      'start Redis, let it take writes (more maxmemory, room on its disk, the master instead of a replica), correct REDIS_URL, or leave REDIS_URL out to use PostgreSQL; until then sends go on, and jobs follow later',
  },
  {
    part: 'prefix',
    async run(core) {
      const others = await findOtherInstances(core);
      if (others.length > 0) throw new Error(describeSharedQueues(core, others));
      return core.config.REDIS_URL ? `nobody else uses ${core.config.REDIS_PREFIX}` : 'no Redis is shared';
    },
    advice: 'correct REDIS_URL, or give each installation on that Redis a REDIS_PREFIX of its own',
  },
  {
    part: 'bus',
    async run(core) {
      if (await waitForBus(core)) return backendName(core.config);
      throw new Error('it does not connect');
    },
    advice: 'start Redis, correct REDIS_URL, or leave REDIS_URL out to use PostgreSQL',
  },
  {
    part: 'backlog',
    async run({ queues, repositories }) {
      const { rows, oldest } = await repositories.outbox.readAge();
      await queues.ping();
      const depths = await queues.depths();
      const late = depths.filter((depth) => isOverdue(depth.oldest)).map(({ queue }) => queue);
      if (late.length > 0) throw new Error(`jobs wait for more than a minute in: ${late.join(', ')}`);
      if (isOverdue(oldest)) throw new Error(`${rows} jobs are owed, the oldest for more than a minute`);
      const failed = depths.filter((depth) => depth.failed > 0);
      const told = failed.map(
        (depth) => `${depth.failed} failed in ${depth.queue} (ams queue failed ${depth.queue})`,
      );
      return ['nothing waits too long', ...told].join('; ');
    },
    advice: 'start workers with these roles, or look with ams queue failed why jobs fail',
  },
  {
    part: 'workers',
    async run(core) {
      const workers = await findRunningWorkers(core);
      if (!workers) return 'nobody can tell before npm run migrate';
      const { count, missing } = workers;
      if (missing.length > 0) throw new Error(`no worker is running with the role ${missing.join(', ')}`);
      return `${count} running, and every role among them`;
    },
    advice:
      'start workers with these roles (npm run worker; WORKER_ROLES); those of an older release are not seen',
  },
  {
    part: 'feeds',
    async run({ repositories, config }) {
      const kept = config.FEED_RETENTION_DAYS;
      const [oldest, partitions] = await Promise.all([
        repositories.feedRetention.oldestEvent(),
        repositories.partitions.list(),
      ]);
      const ends = partitions.filter(({ table }) => table === 'events').map(({ to }) => to);
      const late = minIdAt('event', Date.now() - (kept + removalDelayDays) * dayMs);
      const isLate = ends.length > 1 ? (ends[0] ?? '') < late : oldest !== undefined && oldest < late;
      if (oldest === undefined) return 'no events yet';
      const age = Math.floor((Date.now() - timeOfId(oldest)) / dayMs);
      if (!isLate) return `events of ${age} days, kept for ${kept}`;
      throw new Error(`the oldest event is ${age} days old, and they are to be kept for ${kept}`);
    },
    advice: 'start a worker with the role maintenance, or look into its log for expire-feeds',
  },
  {
    part: 'partitions',
    async run({ repositories }) {
      const until = coveredUntil(await repositories.partitions.list());
      if (until.size === 0) throw new Error('no table is in partitions');
      const first = Math.min(...until.values());
      const date = new Date(first).toISOString().slice(0, 10);
      if (first > Date.now() + dayMs) return `there until ${date}`;
      throw new Error(`there are none after ${date}, and what comes lies in the default ones`);
    },
    advice:
      'run npm run migrate; start a worker with the role maintenance, or look into its log for expire-feeds',
  },
  {
    part: 'numbers',
    async run({ unitOfWork }) {
      const epoch = await unitOfWork.readAsSystem(readFeedEpoch);
      if (epoch.status === 'none') return 'nothing has started on this database yet';
      if (epoch.status === 'current') return `of this database since ${new Date(epoch.since).toISOString()}`;
      throw new Error('the database was restored, and no process has started on it since');
    },
    advice: 'start the API or a worker anew, or run: npm run -s ams -- restored',
  },
  {
    part: 'files',
    async run({ blobs, config }) {
      await blobs.check();
      return config.S3_BUCKET === undefined
        ? `in ${config.DATA_DIR}/blobs`
        : `in the bucket ${config.S3_BUCKET}`;
    },
    advice: ({ S3_BUCKET, DATA_DIR }) =>
      S3_BUCKET === undefined
        ? `let the service write in ${DATA_DIR}, make room there, or correct DATA_DIR`
        : 'start the object store, create the bucket, let the key put, get, delete and list, or correct S3_ENDPOINT, S3_BUCKET, S3_REGION and the keys',
  },
  {
    part: 'scanner',
    async run({ config }) {
      if (config.CLAMD_URL === undefined) return 'built-in checks only';
      await pingClamd(config.CLAMD_URL);
      await createClamdScanner(config.CLAMD_URL).scan(maxSizeFile);
      return 'ClamAV and built-in checks';
    },
    advice:
      'start clamd, let it take 10 MiB (StreamMaxLength), correct CLAMD_URL, or leave it out: until then uploads stay unscanned, and then fail',
  },
  {
    part: 'api',
    async run({ config }) {
      const answer = await fetch(`${config.PUBLIC_URL}/readyz`, { signal: AbortSignal.timeout(3_000) });
      if (answer.ok) return `ready at ${config.PUBLIC_URL}`;
      throw new Error(`${config.PUBLIC_URL}/readyz answers ${answer.status}: ${await answer.text()}`);
    },
    advice: 'start it with npm start or npm run api, or correct PUBLIC_URL',
  },
];

const isOverdue = (since: number | null): boolean => since !== null && Date.now() - since > maxWaitMs;

const backendName = ({ REDIS_URL }: Config): string => (REDIS_URL ? 'Redis' : 'PostgreSQL');

/** `ams doctor`: looks at every part, and says what to do where one is not well. Throws nothing for a part that is ill. */
async function runChecks(io: CommandIo): Promise<Finding[]> {
  try {
    loadConfig(io.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'correct it in the environment or in .env';
    return [{ part: 'settings', ok: false, detail: error.message, advice }];
  }
  const found = await withCore(io, async (core) => {
    const findings: Finding[] = [];
    for (const check of checks) findings.push(await runCheck(check, core));
    return findings;
  });
  return [{ part: 'settings', ok: true, detail: 'complete' }, ...found];
}

async function runCheck({ part, run, advice }: Check, core: Core): Promise<Finding> {
  try {
    return { part, ok: true, detail: await run(core) };
  } catch (error) {
    // fetch() tells the reason in the cause only.
    const reason = error instanceof TypeError && error.cause ? error.cause : error;
    return {
      part,
      ok: false,
      detail: firstLine(describeError(reason)),
      advice: typeof advice === 'string' ? advice : advice(core.config),
    };
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** `ams doctor` */
export function doctorCommand(io: CommandIo): Command {
  return resultCommand('doctor', 'check every part and say what to do').action(
    async (options: { json?: boolean }) => {
      const findings = await runChecks(io);
      const ill = findings.filter((finding) => !finding.ok);
      const ok = ill.length === 0;
      io.print(options.json ? formatJson({ ok, checks: findings }) : findings.map(formatFinding).join(''));
      if (!ok) throw new Error(`not well: ${ill.map(({ part }) => part).join(', ')}`);
    },
  );
}

function formatFinding({ part, ok, detail, advice }: Finding): string {
  const line = `${ok ? 'ok  ' : 'FAIL'}  ${part.padEnd(10)}  ${detail}\n`;
  return advice ? `${line}${' '.repeat(18)}→ ${advice}\n` : line;
}
